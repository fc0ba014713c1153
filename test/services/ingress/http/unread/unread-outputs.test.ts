import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { RouterError } from '#shared/core/errors.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { ClientReply } from '#services/ingress/http/client-reply.ts';
import { computeUnreadBytes, UnreadOutputs } from '#services/ingress/http/unread/unread-outputs.ts';
import { startUnreadClient } from '../../../../helpers/clients/start-unread-client.ts';

const mebibyte = 1024 * 1024;

const memory = { hold: () => undefined, releaseBody: () => undefined };
const streamed = { format: chatFormat, requestId: 'req_1', stream: true, memory };

/** Opens a reply to a client that reads nothing, and the errors of its request. */
async function unreadReply(unread: UnreadOutputs) {
  const { client, response } = await startUnreadClient();
  const errors: RouterError[] = [];
  const reply = new ClientReply(response, { ...streamed, unreadOutputs: unread });
  const fail = (error: RouterError): void => {
    errors.push(error);
    reply.fail(error);
  };
  reply.follow({ cancel: () => undefined, finished: Promise.resolve(), fail });
  return { client, response, reply, errors };
}

/** Writes events of this many bytes in total, each with its number. */
function writeEvents(reply: ClientReply, bytes: number, each = 1024): void {
  for (let at = 0; at < bytes / each; at += 1) reply.data(Buffer.from(`data: ${at}`.padEnd(each - 2, ' ') + '\n\n'));
}

it('beyond the bound of all, the most unread stream ends with an error event behind whole events, and its memory is free', async () => {
  const unread = new UnreadOutputs(5 * mebibyte);
  const most = await unreadReply(unread);
  const less = await unreadReply(unread);
  // The kernel takes the first megabytes.
  while (unread.bytes < 3 * mebibyte) writeEvents(most.reply, mebibyte / 4);
  const before = unread.bytes;
  while (unread.givenUp === 0) writeEvents(less.reply, mebibyte / 4);
  expect(before).toBeLessThan(4 * mebibyte);
  expect(most.errors.map(({ code }) => code)).toEqual(['request_timeout']);
  expect(less.errors).toEqual([]);
  expect(unread.bytes).toBeLessThan(3 * mebibyte);
  const seen = await text(most.client);
  const numbers = Array.from(seen.matchAll(/^data: (\d+)/gm), ([, number]) => Number(number));
  expect(numbers.length).toBeGreaterThan(100);
  expect(numbers).toEqual(numbers.map((_, at) => at % 256));
  expect(seen).toMatch(/ \n\n[^]{0,20}data: \{"error":\{"message":"The answer was not read fast enough\./);
  less.client.destroy();
  await once(less.response, 'close');
  expect(unread.bytes).toBe(0);
});

it('a stream of events larger than a block ends behind a whole event', async () => {
  const unread = new UnreadOutputs(64 * mebibyte);
  const { client, reply, errors } = await unreadReply(unread);
  const each = 100_000;
  for (let written = 0; errors.length === 0 && written < 1_000; written += 1) writeEvents(reply, 10 * each, each);
  const seen = await text(client);
  const [answer = ''] = seen.split('data: {"error"');
  const content = withoutChunks(answer.slice(answer.indexOf('\r\n\r\n') + 4));
  const events = content.split('\n\n').filter((event) => event.startsWith('data: '));
  expect(events.length).toBeGreaterThan(10);
  expect(new Set(events.map(({ length }) => length))).toEqual(new Set([each - 2]));
  expect(events.map((event) => Number(event.slice(6)))).toEqual(events.map((_, at) => at % 10));
});

it('a client that reads slowly gets every byte, in order', async () => {
  const unread = new UnreadOutputs(64 * mebibyte);
  const { client, reply, errors } = await unreadReply(unread);
  while (unread.bytes < 4 * mebibyte) writeEvents(reply, mebibyte / 4);
  reply.end(Buffer.from('data: [DONE]\n\n'));
  const seen = await text(client);
  expect(errors).toEqual([]);
  expect(seen.endsWith('data: [DONE]\n\n\r\n0\r\n\r\n')).toBe(true);
  expect(seen.match(/^data: 255 /gm)?.length).toBeGreaterThan(15);
  expect(unread.bytes).toBe(0);
});

it('a stream with 8 MiB of unread bytes ends, whatever the total bound', async () => {
  const unread = new UnreadOutputs(64 * mebibyte);
  const { reply, errors } = await unreadReply(unread);
  for (let written = 0; errors.length === 0 && written < 64; written += 1) writeEvents(reply, mebibyte);
  expect(errors).toHaveLength(1);
  expect(unread.bytes).toBeLessThan(mebibyte);
});

it('a container with little memory keeps an eighth of it for unread output', () => {
  // Without a limit, Node reports 0 or an absurdly large number.
  const ofMebibytes = (memory: number) => computeUnreadBytes(memory * mebibyte) / mebibyte;
  expect([128, 16 * 1024, 0].map(ofMebibytes)).toEqual([16, 32, 32]);
});

function withoutChunks(body: string): string {
  let content = '';
  for (let rest = body; rest !== '';) {
    const start = rest.indexOf('\r\n') + 2;
    const end = start + Number.parseInt(rest, 16);
    content += rest.slice(start, end);
    rest = rest.slice(end + 2);
  }
  return content;
}
