import { once } from 'node:events';
import type { Request } from 'express';
import { text } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { expect, it } from 'vitest';
import { UnreadBody } from '#services/ingress/http/unread/unread-body.ts';
import { UnreadOutputs } from '#services/ingress/http/unread/unread-outputs.ts';
import { startUnreadClient } from '../../../../helpers/clients/start-unread-client.ts';

const mebibyte = 1024 * 1024;

/** Opens an answer that a library writes to a client that reads nothing. */
async function unreadAnswer(unread: UnreadOutputs) {
  const { client, response } = await startUnreadClient();
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => void (source = controller),
    cancel: () => cancelled.resolve(),
  });
  const fetch = () => Promise.resolve(new Response(new UnreadBody(body, response, unread).stream));
  const served = toNodeHandler({ fetch })(response.req as Request, response);
  const write = async (bytes: number): Promise<void> => {
    source?.enqueue(new Uint8Array(bytes).fill(120));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { client, response, write, end: () => source?.close(), cancelled: cancelled.promise, served };
}

it('an unread body counts what its client has not read, and the client is disconnected beyond the bound of one answer', async () => {
  const unread = new UnreadOutputs(64 * mebibyte);
  const { response, write, cancelled } = await unreadAnswer(unread);
  const closed = once(response, 'close');
  let most = 0;
  for (let written = 0; !response.destroyed && written < 64; written += 1) {
    await write(mebibyte);
    most = Math.max(most, unread.bytes);
  }
  await closed;
  await cancelled;
  expect(most).toBeGreaterThan(6 * mebibyte);
  expect(most).toBeLessThan(10 * mebibyte);
  expect([unread.givenUp, unread.bytes]).toEqual([1, 0]);
});

it('beyond the total bound, the client with the most unread bytes is disconnected, and the other one gets everything', async () => {
  const unread = new UnreadOutputs(5 * mebibyte);
  const [most, less] = [await unreadAnswer(unread), await unreadAnswer(unread)];
  while (unread.bytes < 3 * mebibyte) await most.write(mebibyte / 4);
  let written = 0;
  for (; unread.givenUp === 0; written += 1) await less.write(mebibyte / 4);
  expect(most.response.destroyed).toBe(true);
  less.end();
  const seen = await text(less.client);
  expect(seen.match(/x/g)?.length).toBe((written * mebibyte) / 4);
  await less.served;
  expect(unread.bytes).toBe(0);
});
