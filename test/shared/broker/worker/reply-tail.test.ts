import { describe, expect, it } from 'vitest';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { ReplyTail } from '#shared/broker/worker/reply-tail.ts';

const mebibyte = 1024 * 1024;

describe('the frames kept to be sent again', () => {
  it('are those of the last second', () => {
    const tail = new ReplyTail(new FrameMemory());
    for (let at = 0; at <= 2_000; at += 500) tail.add('d', Buffer.from(String(at)), at, false);
    expect(tail.from(0)).toBeUndefined();
    expect(tail.from(1)).toBeUndefined();
    expect(tail.from(2)?.map(({ payload }) => payload.toString())).toEqual(['1000', '1500', '2000']);
    expect(tail.from(4)).toHaveLength(1);
    expect(tail.from(5)).toEqual([]);
  });

  it('go without a new frame, too', () => {
    const tail = new ReplyTail(new FrameMemory());
    for (let at = 0; at <= 2_000; at += 500) tail.add('d', Buffer.from(String(at)), at, true);
    tail.dropOld(2_100);
    expect(tail.from(2)).toBeUndefined();
    expect(tail.from(3)?.map(({ payload }) => payload.toString())).toEqual(['1500', '2000']);
    tail.dropOld(4_000);
    expect(tail.bytes).toBe(0);
    expect(tail.from(5)).toEqual([]);
  });

  it('are all of them while nobody knows what was lost', () => {
    const tail = new ReplyTail(new FrameMemory());
    for (let at = 0; at <= 20_000; at += 1_000) tail.add('d', Buffer.from('x'), at, true);
    expect(tail.from(0)).toHaveLength(21);
  });

  it('give back their memory, when they are dropped for age, for room, or altogether', () => {
    const memory = new FrameMemory();
    const tail = new ReplyTail(memory);
    for (let at = 0; at <= 2_000; at += 500) tail.add('d', Buffer.from(String(at)), at, false);
    expect(memory.frames).toBe(3);
    tail.add('e', Buffer.alloc(mebibyte), 2_000, false);
    expect(memory.frames).toBe(0);
    for (const _ of [1, 2, 3]) tail.add('d', Buffer.from('x'), 2_000, true);
    tail.dropOld(2_500);
    expect(memory.frames).toBe(3);
    tail.dropAll();
    expect(memory.frames).toBe(0);
    expect(tail.bytes).toBe(0);
  });

  it('are never more than a mebibyte, not even of one answer', () => {
    const tail = new ReplyTail(new FrameMemory());
    for (let frame = 0; frame < 10; frame += 1) tail.add('d', Buffer.alloc(400 * 1024), 0, true);
    expect(tail.bytes).toBeLessThanOrEqual(mebibyte);
    expect(tail.from(8)).toHaveLength(2);
    expect(tail.from(7)).toBeUndefined();
    tail.add('e', Buffer.alloc(2 * mebibyte), 0, true);
    expect(tail.bytes).toBe(0);
    expect(tail.from(10)).toBeUndefined();
    expect(tail.from(11)).toEqual([]);
  });
});
