import { describe, expect, it } from 'vitest';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { ReplyTail } from '#shared/broker/worker/reply-tail.ts';

const mebibyte = 1024 * 1024;
const never = Number.NEGATIVE_INFINITY;

describe('the frames that are kept to be sent again', () => {
  it('are those without a confirmation', () => {
    const tail = new ReplyTail(new FrameMemory());
    for (let at = 0; at <= 2_000; at += 500) tail.add('d', Buffer.from(String(at)), at, at - 1_000, false);
    expect(tail.readFrom(0)).toBeUndefined();
    expect(tail.readFrom(1)).toBeUndefined();
    expect(tail.readFrom(2)?.map(({ payload }) => payload.toString())).toEqual(['1000', '1500', '2000']);
    expect(tail.readFrom(4)).toHaveLength(1);
    expect(tail.readFrom(5)).toEqual([]);
  });

  it('are dropped without a new frame, too', () => {
    const tail = new ReplyTail(new FrameMemory());
    for (let at = 0; at <= 2_000; at += 500) tail.add('d', Buffer.from(String(at)), at, never, true);
    tail.dropBefore(1_100);
    expect(tail.readFrom(2)).toBeUndefined();
    expect(tail.readFrom(3)?.map(({ payload }) => payload.toString())).toEqual(['1500', '2000']);
    tail.dropBefore(3_000);
    expect(tail.bytes).toBe(0);
    expect(tail.readFrom(5)).toEqual([]);
  });

  it('are all frames while their ingress is out of reach', () => {
    const tail = new ReplyTail(new FrameMemory());
    for (let at = 0; at <= 20_000; at += 1_000) tail.add('d', Buffer.from('x'), at, never, true);
    expect(tail.readFrom(0)).toHaveLength(21);
  });

  it('release their memory if they are dropped for age, for room, or all together', () => {
    const memory = new FrameMemory();
    const tail = new ReplyTail(memory);
    for (let at = 0; at <= 2_000; at += 500) tail.add('d', Buffer.from(String(at)), at, at - 1_000, false);
    expect(memory.frames).toBe(3);
    tail.add('e', Buffer.alloc(mebibyte), 2_000, 1_000, false);
    expect(memory.frames).toBe(0);
    for (const _ of [1, 2, 3]) tail.add('d', Buffer.from('x'), 2_000, never, true);
    tail.dropBefore(1_500);
    expect(memory.frames).toBe(3);
    tail.dropAll();
    expect(memory.frames).toBe(0);
    expect(tail.bytes).toBe(0);
  });

  it('are at most a mebibyte of one answer while its ingress is in reach', () => {
    const tail = new ReplyTail(new FrameMemory());
    for (let frame = 0; frame < 10; frame += 1) tail.add('d', Buffer.alloc(400 * 1024), 0, never, false);
    expect(tail.bytes).toBeLessThanOrEqual(mebibyte);
    expect(tail.readFrom(8)).toHaveLength(2);
    expect(tail.readFrom(7)).toBeUndefined();
    tail.add('e', Buffer.alloc(2 * mebibyte), 0, never, false);
    expect(tail.bytes).toBe(0);
    expect(tail.readFrom(10)).toBeUndefined();
    expect(tail.readFrom(11)).toEqual([]);
  });

  it('of all answers together are limited by the memory, which reports no room before frames must be dropped', async () => {
    const memory = new FrameMemory(4 * mebibyte);
    const one = new ReplyTail(memory);
    const other = new ReplyTail(memory);
    for (const tail of [one, one, other, other]) tail.add('d', Buffer.alloc(0.7 * mebibyte), 0, never, true);
    expect(memory.waitForRoom()).toBeUndefined();
    other.add('d', Buffer.alloc(0.7 * mebibyte), 0, never, true);
    let hasRoom = false;
    const room = memory.waitForRoom()?.then(() => (hasRoom = true));
    expect(one.readFrom(0)).toHaveLength(2);
    expect(other.readFrom(0)).toHaveLength(3);
    // A writer that cannot wait loses its own oldest frames.
    other.add('d', Buffer.alloc(1.5 * mebibyte), 0, never, true);
    expect(memory.bytes).toBeLessThanOrEqual(4 * mebibyte);
    expect(one.readFrom(0)).toHaveLength(2);
    expect(other.readFrom(0)).toBeUndefined();
    expect(hasRoom).toBe(false);
    other.dropAll();
    await room;
    expect(hasRoom).toBe(true);
    one.dropAll();
    expect(memory.bytes).toBe(0);
  });
});
