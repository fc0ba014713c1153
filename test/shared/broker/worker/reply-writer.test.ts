import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { connectBroker, type Broker } from '#shared/broker/connection/connect-broker.ts';
import { decodeAnswerHeaders, encodeAnswerHeaders } from '#shared/broker/contract/answer-headers.ts';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { DispatcherContact } from '#shared/broker/worker/dispatcher-contact.ts';
import { ReplyWriter } from '#shared/broker/worker/reply-writer.ts';
import { noUsage } from '#shared/core/usage.ts';
import { RouterError } from '#shared/core/errors.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

let broker: Broker;

beforeAll(async () => {
  broker = await connectBroker({ url: inject('natsUrl'), name: 'test', prefix: 'test', log: silentLog });
});

afterAll(() => broker.nc.close());

/** A writer, and the frames that arrive, each as kind, number or `_`, text and, if there is one, reply subject. */
async function startReply(coalesceMs: number, stream = true, memory = new FrameMemory()) {
  const subject = `test.reply.${randomUUID()}`;
  const frames: string[] = [];
  broker.subscribe(`${subject}.>`, ({ subject: to, data, reply }) => {
    const frame = [to.slice(subject.length + 1), Buffer.from(data).toString()];
    frames.push((reply ? [...frame, reply] : frame).join(' '));
  });
  await broker.flush();
  const contact = new DispatcherContact('test');
  const worker = { broker, memory, options: { coalesceMs } };
  const writer = new ReplyWriter(worker, subject, 'test.alive', stream, contact);
  return { writer, frames, subject, contact };
}

const end = { usage: noUsage, finishReason: 'stop' };

describe('the pieces of a stream', () => {
  it('travel at once first, then together within the window', async () => {
    const { writer, frames } = await startReply(100);
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    writer.write('a');
    writer.write('b');
    await broker.flush();
    expect(frames).toEqual(['d._ a 0']);
    writer.write('c');
    vi.advanceTimersByTime(200);
    vi.useRealTimers();
    await until(() => expect(frames).toEqual(['d._ a 0', 'd._ bc 1']));
  });

  it('travel at once again if nothing was sent for the length of the window', async () => {
    const { writer, frames } = await startReply(5);
    writer.write('a');
    await sleep(10);
    writer.write('b');
    await broker.flush();
    expect(frames).toEqual(['d._ a 0', 'd._ b 1']);
  });

  it('do not wait for the window if they have grown large', async () => {
    const { writer, frames } = await startReply(60_000);
    writer.write('a');
    writer.write('b');
    writer.write('c'.repeat(64 * 1024));
    await broker.flush();
    expect(frames.map((frame) => frame.length)).toEqual([7, 6 + 1 + 64 * 1024]);
  });

  it('travel with the end if it comes first', async () => {
    const { writer, frames } = await startReply(60_000);
    writer.write('a');
    writer.write('b');
    writer.end(end);
    await broker.flush();
    expect(frames).toEqual(['d._ a 0', `e.1 ${JSON.stringify(end)}\nb`]);
  });

  it('are dropped after the answer was closed', async () => {
    const { writer, frames } = await startReply(5);
    writer.write('a');
    writer.write('b');
    writer.close();
    writer.write('c');
    await sleep(20);
    await broker.flush();
    expect(frames).toEqual(['d._ a 0']);
  });
});

describe('frame numbers outside the subject', () => {
  it.each([0, 5])('keep all data frames of a stream at one subject, with a window of %i ms', async (coalesceMs) => {
    const { writer, frames } = await startReply(coalesceMs);
    for (const [at, piece] of ['a', 'b', 'c'].entries()) {
      writer.write(piece);
      await until(() => frames.length > at);
    }
    writer.sendKeepAlive();
    writer.end(end);
    await broker.flush();
    expect(frames).toEqual(['d._ a 0', 'd._ b 1', 'd._ c 2', 'k.3  test.alive', `e.3 ${JSON.stringify(end)}\n`]);
  });

  it('are sent again with repeated frames', async () => {
    const { writer, frames } = await startReply(0);
    for (const piece of ['a', 'b', 'c']) writer.write(piece);
    writer.fail(new RouterError('upstream_failed', 'It failed.'));
    expect(writer.retransmit(1)).toBe(true);
    await broker.flush();
    const sent = frames.map((frame) => frame.replace(/ \{.*/, ''));
    expect(sent).toEqual(['d._ a 0', 'd._ b 1', 'd._ c 2', 'x.3', 'd._ b 1', 'd._ c 2', 'x.3']);
  });

  it('are sent with the parts of an answer that is not streamed', async () => {
    const { writer, frames } = await startReply(0, false);
    for (const letter of ['a', 'b']) writer.write(letter.repeat(512 * 1024));
    await until(() => frames.length === 2);
    writer.end(end);
    const heads = () => frames.map((frame) => frame.replace(/(a+|b+|\{.*\n) ?/, ''));
    await until(() => expect(heads()).toEqual(['d._ 0', 'd._ 1', 'e.2 ']));
  });
});

it('the first piece of a stream overtakes later pieces of other streams', async () => {
  const early = await startReply(5);
  const late = await startReply(5);
  early.writer.write('a');
  await sleep(20);
  const order: string[] = [];
  for (const [name, { subject }] of Object.entries({ early, late })) {
    broker.subscribe(`${subject}.>`, ({ data }) => order.push(`${name} ${Buffer.from(data).toString()}`));
  }
  await broker.flush();
  early.writer.write('b');
  late.writer.write('c');
  await broker.flush();
  expect(order).toEqual(['late c', 'early b']);
});

describe('the pieces of an answer that is not streamed', () => {
  it('travel with its end', async () => {
    const { writer, frames } = await startReply(0, false);
    for (const piece of ['a', 'b', 'c']) writer.write(piece);
    await sleep(20);
    writer.end(end);
    await broker.flush();
    expect(frames).toEqual([`e.0 ${JSON.stringify(end)}\nabc`]);
  });

  it('do not wait for the end if they have grown large', async () => {
    const { writer, frames } = await startReply(5, false);
    writer.write('a');
    writer.write('b'.repeat(512 * 1024 - 1));
    writer.write('c');
    await until(() => frames.length > 0);
    await sleep(20);
    expect(frames.map((frame) => frame.length)).toEqual([6 + 512 * 1024]);
    writer.end(end);
    await until(() => frames.length > 1);
    expect(frames[1]?.endsWith('\nc')).toBe(true);
  });

  it('are dropped if something has ended it too early', async () => {
    const { writer, frames } = await startReply(5, false);
    writer.write('a');
    writer.fail(new RouterError('upstream_failed', 'It failed.'));
    await broker.flush();
    expect(frames.map((frame) => frame.slice(0, 5))).toEqual(['x.0 {']);
  });
});

describe('headers of the upstream', () => {
  it.each([
    ['a stream', true],
    ['an answer that is not streamed', false],
  ])('travel with the first frame of %s, and again when it is sent again', async (_, stream) => {
    const { writer, subject } = await startReply(5, stream);
    const carried: unknown[] = [];
    broker.subscribe(`${subject}.>`, ({ headers, data }) => carried.push([decodeAnswerHeaders(headers), data.length]));
    await broker.flush();
    const given = { 'anthropic-ratelimit-unified-status': 'allowed' };
    writer.addHeaders(given);
    writer.sendKeepAlive();
    await broker.flush();
    writer.write('a'.repeat(512 * 1024));
    await until(() => carried.length === 2);
    writer.write('b'.repeat(512 * 1024));
    await until(() => carried.length === 3);
    writer.retransmit(0);
    const sent = [given, undefined].map((each) => [each, 512 * 1024]);
    await until(() => expect(carried).toEqual([[undefined, 0], ...sent, ...sent]));
  });

  it('are dropped if they are more than an answer may have', async () => {
    expect(decodeAnswerHeaders(encodeAnswerHeaders({ a: 'x'.repeat(4_000) }))).toEqual({ a: 'x'.repeat(4_000) });
    expect(encodeAnswerHeaders({ a: 'x'.repeat(5_000) })).toBeUndefined();
    expect(encodeAnswerHeaders({})).toBeUndefined();
  });
});

it('there is room for further pieces while the ingress is in reach, and otherwise while the memory for sent frames has some', async () => {
  const { writer, contact } = await startReply(0, true, new FrameMemory(1_000));
  writer.write('x'.repeat(800));
  expect(writer.waitForRoom()).toBeUndefined();
  contact.recordAbsent();
  let hasRoom = false;
  const room = writer.waitForRoom()?.then(() => (hasRoom = true));
  expect(room).toBeDefined();
  await broker.flush();
  expect(hasRoom).toBe(false);
  writer.dropAll();
  await room;
  expect(writer.waitForRoom()).toBeUndefined();
});
