import type { Request, Response } from 'express';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { FileRecord } from '#shared/accounts/files/file-records.ts';
import { sendContent, type ContentParts } from '#services/ingress/files/send-content.ts';
import { UnreadOutputs } from '#services/ingress/http/unread/unread-outputs.ts';
import { startUnreadClient } from '../../../helpers/clients/start-unread-client.ts';
import { until } from '../../../helpers/until.ts';

const pieceBytes = 256 * 1024;
const pieces = 200;
const file: FileRecord = {
  id: 'f',
  object: 'o',
  name: 'a.txt',
  mimeType: 'text/plain',
  purpose: 'batch',
  bytes: pieces * pieceBytes,
  sha256: '',
  lines: 0,
  createdAt: 0,
};
async function* content(): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < pieces; index += 1) yield Buffer.alloc(pieceBytes);
}

async function startDownload(parts: ContentParts) {
  const { client, response } = await startUnreadClient();
  const sending = sendContent(response.req as Request, response as Response, file, parts);
  return { client, response, sending };
}

it('downloads that clients do not read are bounded in sum: one is cut, and the others are read whole', async () => {
  const unreadOutputs = new UnreadOutputs(2.5 * pieceBytes);
  const parts = { files: { read: async () => content() }, unreadOutputs, bodyTimeoutMs: 60_000 };
  const downloads = await Promise.all(Array.from({ length: 3 }, () => startDownload(parts)));
  await until(() => expect(unreadOutputs.givenUp).toBe(1));
  expect(unreadOutputs.bytes).toBeLessThanOrEqual(2.5 * pieceBytes);
  const read = downloads.map(async ({ client }) => {
    let bytes = 0;
    for await (const piece of client) bytes += (piece as Buffer).length;
    return bytes >= file.bytes;
  });
  expect((await Promise.all(read)).filter(Boolean).length).toBe(2);
  await Promise.all(downloads.map(({ sending }) => sending));
  await until(() => expect(unreadOutputs.bytes).toBe(0));
});

it('a client that reads nothing for the time is disconnected', async () => {
  const parts = { files: { read: async () => content() }, unreadOutputs: new UnreadOutputs(1e9), bodyTimeoutMs: 100 };
  const { response, sending } = await startDownload(parts);
  await once(response, 'close');
  await expect(sending).resolves.toBeUndefined();
});

it('a client that leaves before the first piece was read is no failure of the router', async () => {
  const asked = Promise.withResolvers<void>();
  const read: ContentParts['files']['read'] = (_file, _range, signal) =>
    new Promise((_resolve, reject) => {
      asked.resolve();
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const { client, sending } = await startDownload({
    files: { read },
    unreadOutputs: new UnreadOutputs(1e9),
    bodyTimeoutMs: 60_000,
  });
  await asked.promise;
  client.destroy();
  await expect(sending).resolves.toBeUndefined();
});
