import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { AdminClient } from '#services/rtr/commands/admin/admin-client.ts';
import { downloadFile } from '#services/rtr/commands/admin/download-file.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';
import { serveInTest } from '../../../../helpers/servers/serve-http.ts';
import { until } from '../../../../helpers/until.ts';

describe('a download of the Admin API', () => {
  it('leaves nothing when it is cut off, and succeeds when it is repeated', async () => {
    const to = temporaryFolder();
    const out = join(to, 'usage.csv');
    const hasArrived = () => until(() => readdirSync(to).some((part) => statSync(join(to, part)).size === 10));
    let isCut = true;
    const context = await contextOfServer((response) => {
      response.writeHead(200, { 'content-length': 20 });
      response.write('0123456789');
      if (isCut) void hasArrived().finally(() => response.destroy());
      else response.end('abcdefghij');
    });
    await expect(downloadFile(context, '/usage/export', {}, out)).rejects.toThrow('was cut off');
    expect(readdirSync(to)).toEqual([]);
    isCut = false;
    await downloadFile(context, '/usage/export', {}, out);
    expect(readFileSync(out, 'utf8')).toBe('0123456789abcdefghij');
    expect(statSync(out).mode & 0o777).toBe(0o600);
    await expect(downloadFile(context, '/usage/export', {}, out)).rejects.toThrow(`${out} exists already`);
  });

  it.each([undefined, '-'])('goes to the standard output with the path %s', async (out) => {
    const context = await contextOfServer((response) => response.end('id,at'));
    await downloadFile(context, '/usage/export', {}, out);
    context.output.end();
    expect(await text(context.output)).toBe('id,at');
    expect(context.lines).toEqual([]);
  });
});

async function contextOfServer(answer: (response: ServerResponse) => void) {
  const url = await serveInTest((_, response) => answer(response));
  const client = new AdminClient({ url, token: () => Promise.resolve('t'), unknownTokenMessage: '' });
  const lines: string[] = [];
  return { client, json: false, output: new PassThrough(), lines, print: (line: string) => lines.push(line) };
}
