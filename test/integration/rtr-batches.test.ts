import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { createBatchesCommand } from '#services/rtr/commands/batches/batches-command.ts';
import { createFilesCommand } from '#services/rtr/commands/files/files-command.ts';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { batchClients, chatLine, submit, untilBatch } from '../helpers/batches/batch-clients.ts';
import { clientCommands } from '../helpers/batches/run-client-command.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { adminOf, metricOf } from '../helpers/cluster/worker-admin.ts';
import type { ServiceProcess } from '../helpers/processes/start-process.ts';
import { until } from '../helpers/until.ts';

/** Largest body that the runner takes. */
const bodyBytes = 64 * 1024;

let runner: ServiceProcess;
const cluster = useCluster();
beforeAll(async () => {
  runner = await cluster.addBatchRunner({ ADMIN_PORT: '0', MAX_BODY_BYTES: String(bodyBytes) });
});

const ids = (lines: readonly { custom_id: string }[]): string[] => lines.map(({ custom_id: id }) => id).toSorted();

const run = (...words: Parameters<ReturnType<typeof clientCommands>>) => clientCommands(cluster)(...words);
const parsed = (line = '') => JSON.parse(line) as { id: string };

describe('rtr batches', () => {
  /** Creates a folder with a file of requests. */
  function requestsOf(lines: readonly (object | string)[]): { folder: string; file: string } {
    const folder = mkdtempSync(join(tmpdir(), 'rtr-batches-'));
    const file = join(folder, 'requests.jsonl');
    writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
    return { folder, file };
  }

  it('submits a file, watches the batch to its end, and writes its answers and errors into files', async () => {
    const good = [chatLine('a', 'Say A.'), chatLine('b', 'Say B.')];
    const { folder, file } = requestsOf([...good, chatLine('c', 'Hi.', { model: 'nobody' })]);
    const [made = '', ended = ''] = await run(createBatchesCommand, 'submit', file, '--watch');
    const [, id = ''] = /^Batch (batch_\w+) was created\.$/.exec(made) ?? [];
    expect(ended).toMatch(`Batch ${id} is complete: 2 of 3 answered, 1 failed,`);
    const out = join(folder, 'results');
    const [text = ''] = await run(createBatchesCommand, 'download', id, '--out', out, '--json');
    const written = JSON.parse(text) as { output: string; errors: string };
    expect(readdirSync(out).toSorted()).toEqual([`${id}_errors.jsonl`, `${id}_output.jsonl`]);
    const linesIn = (path: string) => JSON.parse(`[${readFileSync(path, 'utf8').trimEnd().replaceAll('\n', ',')}]`);
    expect(ids(linesIn(written.output))).toEqual(['a', 'b']);
    expect(ids(linesIn(written.errors))).toEqual(['c']);
    const again = run(createBatchesCommand, 'download', id, '--out', out);
    await expect(again).rejects.toThrow(`${written.output} exists already: name another folder with --out`);
    writeFileSync(written.errors, 'old');
    rmSync(written.output);
    await expect(run(createBatchesCommand, 'download', id, '--out', out)).rejects.toThrow(
      `${written.errors} exists already`,
    );
    expect(readdirSync(out)).toEqual([`${id}_errors.jsonl`]);
    await run(createBatchesCommand, 'download', id, '--out', out, '--force');
    expect(ids(linesIn(written.errors))).toEqual(['c']);
    const printed = await run(createBatchesCommand, 'download', id, '--out', '-');
    expect(printed.map((line) => JSON.parse(line))).toEqual([...linesIn(written.output), ...linesIn(written.errors)]);
    const table = await run(createBatchesCommand, 'list');
    expect(table[0]).toMatch(/^ID +STATUS +DONE +FAILED +CREATED \(UTC\) +MODEL$/);
    expect(table[1]).toMatch(new RegExp(`^${id} +completed +3 of 3 +1 +[-\\d: ]+ +demo$`));
    expect(parsed((await run(createBatchesCommand, 'list', '--limit', '1', '--json'))[0])).toMatchObject({ id });
  });

  it('fails for a batch that fails, and names the mistakes', async () => {
    const { file } = requestsOf([chatLine('a', 'Hi.'), { ...chatLine('b', 'Hi.'), method: 'GET' }]);
    const watched = run(createBatchesCommand, 'submit', file, '--watch');
    await expect(watched).rejects.toThrow(/none of its requests was run:\nline 2: Invalid 'method': it must be POST\./);
    const { file: noRequest } = requestsOf(['[]']);
    await expect(run(createBatchesCommand, 'submit', noRequest)).rejects.toThrow(/Line 1 of .* is not a request/);
    await expect(run(createBatchesCommand, 'submit', `${file}.none`)).rejects.toThrow(/\.none .* it is not there/);
    await expect(run(createBatchesCommand, 'watch', 'batch_none')).rejects.toThrow(
      "No batch found with id 'batch_none'.",
    );
  });

  it('skips blank lines and a byte order mark as the router does, and counts lines as it does', async () => {
    const blank = ' '.repeat(100);
    // A line separator in a text does not end a line.
    const [a, b] = [chatLine('a', 'Hi.\u2028'), chatLine('b', 'Hi.')];
    const { file } = requestsOf(['\uFEFF', '', a, blank, '\t\r', b, '', '']);
    const { openai } = batchClients(cluster);
    const submitted = async (path: string) =>
      untilBatch(openai, parsed((await run(createBatchesCommand, 'submit', path, '--json'))[0]).id);
    expect(await submitted(file)).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 2 } });
    const wrong = { ...chatLine('b', 'Hi.'), url: '/v1/embeddings' };
    const { file: second } = requestsOf(['\uFEFF', chatLine('a', 'Hi.'), blank, wrong, '']);
    expect(await submitted(second)).toMatchObject({ status: 'failed', errors: { data: [{ line: 4, param: 'url' }] } });
    const { file: first } = requestsOf(['\uFEFF', blank, '[]', chatLine('a', 'Hi.')]);
    await expect(run(createBatchesCommand, 'submit', first)).rejects.toThrow(/Line 3 of .* is not a request/);
    const { file: none } = requestsOf(['\uFEFF', '', blank]);
    await expect(run(createBatchesCommand, 'submit', none)).rejects.toThrow(/requests\.jsonl has no requests/);
  });

  it('cancels a batch, which then fails to complete', async () => {
    const { file } = requestsOf([chatLine('a', 'Hi.\n[demo delay=60000]')]);
    const { id } = parsed((await run(createBatchesCommand, 'submit', file, '--json'))[0]);
    await expect(run(createBatchesCommand, 'download', id)).rejects.toThrow(/is not over yet/);
    expect(await run(createBatchesCommand, 'cancel', id)).toEqual([`Batch ${id} is cancelling.`]);
    await expect(run(createBatchesCommand, 'watch', id)).rejects.toThrow(`Batch ${id} was cancelled: 0 of 1 answered`);
  });

  it('lists more batches than one page of the API', async () => {
    const { raw: key, id: owner } = await cluster.addKey({});
    const { connection } = await openKeyStore(inject('redisUrl'));
    const bounds = { maxOpen: 1_000, keepMs: 60_000 };
    const batches = new Batches(connection.redis, `${cluster.prefix}:`, { bounds, report: () => undefined });
    const what = { api: 'openai', path: '/chat/completions', endpoint: '/v1/chat/completions', window: '24h' };
    const made = Array.from({ length: 205 }, (_, at) => `batch_${at}`);
    for (const [at, id] of made.entries()) {
      const times = { createdAt: Date.now() - 1_000 + at, expiresAt: Date.now() + 60_000 };
      await batches.create({ id, owner, key: owner, ...what, inputFile: 'none', ...times, total: 0 });
    }
    const list = async (...options: string[]) =>
      clientCommands({ ...cluster, key })(createBatchesCommand, 'list', ...options);
    for (const limit of [10_000, 150]) {
      const lines = await list('--limit', String(limit), '--json');
      expect(lines.map((line) => parsed(line).id)).toEqual(made.toReversed().slice(0, limit));
    }
    expect(await list('--limit', '150')).toHaveLength(151);
  });

  it('takes requests from a pipe and from the standard input', async () => {
    const line = `${JSON.stringify(chatLine('a', 'Hi.'))}\n`;
    const { folder } = requestsOf([]);
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const { openai } = batchClients(cluster);
    const submit = async (path: string, piped?: string) => {
      const [made] = await clientCommands({ ...cluster, piped })(createBatchesCommand, 'submit', path, '--json');
      return untilBatch(openai, parsed(made).id);
    };
    const [fromPipe] = await Promise.all([submit(fifo), writeFile(fifo, line)]);
    for (const batch of [fromPipe, await submit('-', line), await submit('/dev/stdin', line)])
      expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 1 } });
    await expect(submit('-')).rejects.toThrow('the standard input is empty.');
  });

  it('writes the remaining results if one file was deleted, and names that file', async () => {
    const { folder, file } = requestsOf([chatLine('a', 'Hi.'), chatLine('b', 'Hi.', { model: 'nobody' })]);
    const { id } = parsed((await run(createBatchesCommand, 'submit', file, '--json'))[0]);
    const { openai } = batchClients(cluster);
    const { output_file_id: answers = '' } = await untilBatch(openai, id);
    await openai.files.delete(answers);
    const gone = `Results of batch ${id} were deleted: ${answers} (answers).`;
    await expect(run(createBatchesCommand, 'download', id, '--out', folder)).rejects.toThrow(gone);
    expect(readdirSync(folder)).toContain(`${id}_errors.jsonl`);
    await expect(run(createBatchesCommand, 'download', id, '--out', '-')).rejects.toThrow(gone);
  });

  it('is complemented by file commands: upload, list, download and delete', async () => {
    const { folder, file } = requestsOf([chatLine('a', 'Ünïcode.'), '']);
    const [uploaded = ''] = await run(createFilesCommand, 'upload', file, '--json');
    const { id, bytes } = JSON.parse(uploaded) as { id: string; bytes: number };
    expect(bytes).toBe(readFileSync(file).length);
    expect((await run(createFilesCommand, 'list')).find((line) => line.startsWith(id))).toMatch(
      / batch .* requests\.jsonl$/,
    );
    const copy = join(folder, 'copy.jsonl');
    expect(await run(createFilesCommand, 'download', id, '--out', copy)).toEqual([`The file was written to ${copy}.`]);
    expect(readFileSync(copy)).toEqual(readFileSync(file));
    await expect(run(createFilesCommand, 'download', id, '--out', copy)).rejects.toThrow(`${copy} exists already`);
    await run(createFilesCommand, 'download', id, '--out', copy, '--force');
    expect(await run(createFilesCommand, 'download', id, '--out', '-')).toEqual([readFileSync(file, 'utf8')]);
    const again = run(createFilesCommand, 'download', id, '--out', join(folder, 'none', 'copy.jsonl'));
    await expect(again).rejects.toThrow(/copy\.jsonl cannot be used: it is not there/);
    // Tests run in a folder that contains an entry of this name.
    const named = join(folder, 'docs');
    writeFileSync(named, 'x');
    const { id: docs } = parsed((await run(createFilesCommand, 'upload', named, '--json'))[0]);
    await expect(run(createFilesCommand, 'download', docs)).rejects.toThrow('docs exists already: name another path');
    expect(await run(createFilesCommand, 'delete', id)).toEqual([`The file ${id} is deleted.`]);
    await expect(run(createFilesCommand, 'download', id)).rejects.toThrow(`No such File object: ${id}`);
    const elsewhere = clientCommands({ ...cluster, url: 'http://127.0.0.1:9' });
    await expect(elsewhere(createFilesCommand, 'list')).rejects.toThrow(
      'The router does not answer at http://127.0.0.1:9',
    );
  });
});

it('the running requests of batches take as much memory as four of the largest bodies, and the others wait', async () => {
  const admin = await adminOf(runner);
  const text = 'x'.repeat(bodyBytes - 4_096);
  const slow = { demo: { first_token_delay_ms: 3_000 } };
  const lines = Array.from({ length: 8 }, (_, at) => chatLine(String(at), text, slow));
  const { openai } = batchClients(cluster);
  const { id } = await submit(openai, lines);
  const running: number[] = [];
  await until(async () => {
    running.push(Number(await metricOf(admin, 'rtr_batch_lines_running')));
    return (await openai.batches.retrieve(id)).status === 'completed';
  });
  expect((await openai.batches.retrieve(id)).request_counts).toEqual({ total: 8, completed: 8, failed: 0 });
  expect(Math.max(...running)).toBe(4);
});
