import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { ClientReply } from '#services/ingress/http/client-reply.ts';
import { UnreadOutputs } from '#services/ingress/http/unread/unread-outputs.ts';
import { startUnreadClient } from '../../../helpers/clients/start-unread-client.ts';

const options = {
  format: chatFormat,
  requestId: 'req_1',
  stream: false,
  unreadOutputs: new UnreadOutputs(64 * 1024 * 1024),
  memory: { hold: () => undefined, releaseBody: () => undefined },
};

const replyTo = (response: ServerResponse) => new ClientReply(response, { ...options, stream: true });

it('the first piece of a stream is sent ahead of later answers to other clients, and further pieces of one turn together at its end', async () => {
  const { client, response } = await startUnreadClient();
  const reply = replyTo(response);
  const socket = response.socket;
  reply.data(Buffer.from('data: 1\n\n'));
  const sent = socket?.bytesWritten;
  expect(sent).toBeGreaterThan(100);
  expect(socket?.writableLength).toBe(0);
  for (const piece of ['data: 2\n\n', 'data: 3\n\n']) reply.data(Buffer.from(piece));
  expect(socket?.bytesWritten).toBe(sent);
  await setImmediate();
  expect(socket?.bytesWritten).toBe((sent ?? 0) + '12\r\n'.length + 18 + '\r\n'.length);
  expect(socket?.writableLength).toBe(0);
  reply.data(Buffer.from('data: 4\n\n'));
  reply.end(Buffer.from('data: [DONE]\n\n'));
  expect(await text(client)).toMatch(
    /\r\n9\r\ndata: 1\n\n\r\n12\r\ndata: 2\n\ndata: 3\n\n\r\n17\r\ndata: 4\n\ndata: \[DONE\]\n\n\r\n0\r\n\r\n$/,
  );
});

it('pieces of one turn that exceed a block, and those before a keep-alive, stay in order', async () => {
  const { client, response } = await startUnreadClient();
  const reply = replyTo(response);
  const pieces = Array.from({ length: 9 }, (_, at) => `data: ${at}`.padEnd(6_000, '.') + '\n\n');
  for (const piece of pieces) reply.data(Buffer.from(piece));
  reply.keepAlive();
  reply.data(Buffer.from('data: 9\n\n'));
  await setImmediate();
  reply.end(Buffer.from('data: [DONE]\n\n'));
  const seen = await text(client);
  expect(Array.from(seen.matchAll(/^data: (\d)/gm), ([, number]) => number).join('')).toBe('0123456789');
  expect(seen.replaceAll(/\r\n[0-9a-f]+\r\n/g, '')).toContain(
    `${pieces.join('')}${chatFormat.openStream({ requestId: 'req_1' }).keepAlive()}data: 9`,
  );
});

it('bytes that wait for a client, or behind an earlier answer to it, keep nothing else in memory', async () => {
  const { client, response } = await startUnreadClient();
  const first = replyTo(response);
  first.data(Buffer.alloc(6 * 1024 * 1024, ' '));
  expect(response.writableLength).toBeGreaterThan(0);
  const read = Buffer.from('data: 1\n\ndata: 2\n\n');
  first.data(read.subarray(0, 9));
  first.end(read.subarray(9));
  // The caller may reuse the memory.
  read.fill('x');
  expect((await text(client)).replaceAll(/ {2,}/g, '')).toMatch(/data: 1\n\n[^]*data: 2\n\n/);
});

it('an error that cannot be written ends the response instead of leaving the client waiting', async () => {
  const { response } = await startUnreadClient();
  const errorAnswer = (): never => {
    throw new Error('the format is broken');
  };
  const reply = new ClientReply(response, { ...options, format: { ...chatFormat, errorAnswer } });
  expect(() => reply.fail(new RouterError('internal', 'The router failed.'))).toThrow('the format is broken');
  expect(response.destroyed).toBe(true);
});
