import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { retryWhileUnavailable } from '#services/rtr/commands/client/client-context.ts';
import { fetchFile } from '#services/rtr/commands/client/fetch-file.ts';
import { ProgressBar } from '#services/rtr/commands/client/progress-bar.ts';
import { CallError } from '#services/rtr/commands/client/call-error.ts';
import { sendFile } from '#services/rtr/commands/client/send-file.ts';
import { findWriteTarget, type WriteTarget } from '#services/rtr/commands/client/write-target.ts';
import { clientOfServer } from '../../../../helpers/batches/client-of-server.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';
import { until } from '../../../../helpers/until.ts';

const bar = new ProgressBar({ write: () => true });
const output = new Writable();

describe('a client of the router', () => {
  it('reports another server at its address, without trying again', async () => {
    const client = await clientOfServer((_, response) => response.end('<html>Welcome</html>'));
    const failure = await retryWhileUnavailable(() => client.call('GET', '/batches')).catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 200, mayBeTemporary: false });
    expect(String(failure)).toMatch(/is not the router: is RTR_URL right\?$/);
  });

  it('passes on the sentence of a refusal, or the status of one without', async () => {
    const message = 'Your files take too much.';
    const client = await clientOfServer(({ url }, response) => {
      response.statusCode = 403;
      response.end(url === '/api/openai/a' ? JSON.stringify({ error: { message } }) : 'no');
    });
    await expect(client.call('GET', '/a')).rejects.toMatchObject({ status: 403, message });
    await expect(client.call('GET', '/b')).rejects.toThrow('The router answered with status 403.');
  });

  it('repeats a request while a failure may pass, and gives up at once on another failure', async () => {
    let requests = 0;
    const client = await clientOfServer(({ url }, response) => {
      requests += 1;
      response.statusCode = url === '/api/openai/refused' ? 404 : requests < 3 ? 503 : 200;
      response.end('{}');
    });
    const failures: string[] = [];
    const patience = { pauseMs: 10, onFailure: ({ message }: CallError) => failures.push(message) };
    expect(await retryWhileUnavailable(() => client.call('GET', '/'), patience)).toEqual({});
    expect(failures).toEqual(Array(2).fill('The router answered with status 503.'));
    const refused = retryWhileUnavailable(() => client.call('GET', '/refused'), patience);
    await expect(refused).rejects.toBeInstanceOf(CallError);
    expect(requests).toBe(4);
  });

  it('sends a file of any name as one form with its length', async () => {
    const path = join(temporaryFolder(), 'a "b"\u00FC.jsonl');
    writeFileSync(path, 'x'.repeat(300_000));
    const received: { length?: string | undefined; text: string } = { text: '' };
    const client = await clientOfServer((request, response) => {
      received.length = request.headers['content-length'];
      request.on('data', (piece) => (received.text += String(piece)));
      request.on('end', () => response.end('{"id":"file-1"}'));
    });
    const file = { path, name: basename(path), displayName: path };
    expect(await sendFile({ client, bar }, file, 'batch')).toEqual({ id: 'file-1' });
    expect(received.length).toBe(String(Buffer.byteLength(received.text)));
    expect(received.text).toContain('filename="a %22b%22\u00FC.jsonl"');
    expect(received.text).toContain(`\r\n\r\n${'x'.repeat(300_000)}\r\n--`);
  });

  it('leaves nothing of a download that is cut off', async () => {
    const to = temporaryFolder();
    const hasArrived = () => until(() => readdirSync(to).some((part) => statSync(join(to, part)).size === 10));
    const client = await clientOfServer((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('0123456789');
      void hasArrived().finally(() => response.destroy());
    });
    const download = fetchFile({ client, bar, output }, 'file-1', { kind: 'file', path: join(to, 'out') });
    await expect(download).rejects.toThrow(/was cut off after 10 bytes/);
    expect(readdirSync(to)).toEqual([]);
  });

  it.each(['/api/openai', '/api/openai/', '/api/openai/v1', ''])('takes the address for an SDK: %j', async (path) => {
    const client = await clientOfServer(({ url }, response) => response.end(JSON.stringify(url)), path);
    expect(await client.call('GET', '/batches')).toBe('/api/openai/batches');
  });

  describe('writing to a path', () => {
    const rules = { force: false, hint: 'no.' };

    async function download(path: string, force = false): Promise<void> {
      const client = await clientOfServer((_, response) => response.end('new'));
      await fetchFile({ client, bar, output }, 'file-1', await findWriteTarget(path, { ...rules, force }));
    }

    it('replaces a file only with the option for that, and never a folder', async () => {
      const path = join(temporaryFolder(), 'out');
      writeFileSync(path, 'old');
      await expect(download(path)).rejects.toThrow(`${path} exists already: no.`);
      expect(readFileSync(path, 'utf8')).toBe('old');
      await download(path, true);
      expect(readFileSync(path, 'utf8')).toBe('new');
      await expect(download(temporaryFolder(), true)).rejects.toThrow('is not a regular file');
    });

    it('replaces no file that has appeared since the path was checked, except with the option for that', async () => {
      const to = temporaryFolder();
      const path = join(to, 'out');
      const client = await clientOfServer((_, response) => response.end('new'));
      const fetchTo = (target: WriteTarget) => fetchFile({ client, bar, output }, 'file-1', target);
      const [unforced, forced] = [
        await findWriteTarget(path, rules),
        await findWriteTarget(path, { ...rules, force: true }),
      ];
      writeFileSync(path, 'of another program');
      await expect(fetchTo(unforced)).rejects.toThrow(`${path} cannot be used: it is there already.`);
      expect(readdirSync(to)).toEqual(['out']);
      expect(readFileSync(path, 'utf8')).toBe('of another program');
      await fetchTo(forced);
      expect(readFileSync(path, 'utf8')).toBe('new');
    });

    it.each(['-', '/dev/stdout'])('takes %s for the standard output', async (path) => {
      expect(await findWriteTarget(path, rules)).toEqual({ kind: 'output', path });
    });

    it('writes into a FIFO, which stays one', async () => {
      const path = join(temporaryFolder(), 'fifo');
      execFileSync('mkfifo', [path]);
      const [read] = await Promise.all([readFile(path, 'utf8'), download(path, true)]);
      expect(read).toBe('new');
      expect(statSync(path).isFIFO()).toBe(true);
    });

    it('follows a link, and refuses one that leads nowhere', async () => {
      const to = temporaryFolder();
      const [file, link, lost] = [join(to, 'file'), join(to, 'link'), join(to, 'lost')];
      writeFileSync(file, 'old');
      symlinkSync(file, link);
      symlinkSync(join(to, 'none'), lost);
      await expect(download(link)).rejects.toThrow('exists already');
      await download(link, true);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect(readFileSync(file, 'utf8')).toBe('new');
      await expect(download(lost, true)).rejects.toThrow(`${lost} cannot be used: it is not there`);
      expect(readdirSync(to).toSorted()).toEqual(['file', 'link', 'lost']);
    });
  });
});
