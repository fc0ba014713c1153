import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ContinuationMemory, computeContinueBytes } from '#shared/broker/dispatch/continuation/continuation-memory.ts';

const mib = 1024 * 1024;

describe('the memory of a stream that can continue', () => {
  it('holds the body and a copy of every relayed byte, whatever the sizes of the pieces', () => {
    const memory = new ContinuationMemory(16 * mib);
    const body = randomBytes(1_000);
    const kept = memory.keep(body);
    const pieces = Array.from({ length: 400 }, (_, at) => randomBytes(1 + ((at * 7919) % 1_500)));
    const whole = Buffer.concat([body, ...pieces]);
    for (const piece of pieces) {
      kept?.add(piece);
      // The broker's client uses the memory again.
      piece.fill(0);
    }
    expect(kept?.toBuffer().equals(whole)).toBe(true);
    expect([kept?.length, kept?.relayedBytes]).toEqual([whole.length, whole.length - body.length]);
  });

  it('is freed once when the stream is dropped', () => {
    const memory = new ContinuationMemory(16 * mib);
    const kept = memory.keep(randomBytes(mib));
    kept?.add(randomBytes(100_000));
    expect(memory.bytes).toBeGreaterThan(mib + 100_000);
    expect(memory.bytes).toBeLessThan(mib + 400_000);
    kept?.drop();
    kept?.drop();
    kept?.add(randomBytes(10));
    expect([memory.bytes, kept?.isDropped, kept?.body]).toEqual([0, true, undefined]);
  });

  it('is dropped beyond 4 MiB of an answer', () => {
    const memory = new ContinuationMemory(64 * mib);
    const kept = memory.keep(Buffer.from('{}'));
    for (let at = 0; at < 64; at += 1) kept?.add(Buffer.alloc(64 * 1024));
    expect(kept?.isDropped).toBe(false);
    kept?.add(Buffer.from('.'));
    expect([kept?.isDropped, memory.bytes]).toEqual([true, 0]);
  });

  it('is at most a quarter of the whole memory for one stream, and at most all of it for all', () => {
    const memory = new ContinuationMemory(4 * mib);
    expect(memory.keep(Buffer.alloc(mib + 1))).toBeUndefined();
    const kept = Array.from({ length: 4 }, () => memory.keep(Buffer.alloc(mib)));
    expect(kept.every((each) => each !== undefined)).toBe(true);
    expect(memory.keep(Buffer.from('{}'))).toBeUndefined();
    kept[0]?.add(Buffer.from('.'));
    expect(kept[0]?.isDropped).toBe(true);
    expect(memory.keep(Buffer.from('{}'))).toBeDefined();
  });

  it('is at most a quarter of the whole memory for answers, of which the longest is dropped', () => {
    const memory = new ContinuationMemory(16 * mib);
    const other = memory.keep(Buffer.from('{}'));
    const unread = Array.from({ length: 20 }, () => memory.keep(Buffer.from('{}')));
    for (let at = 0; at < 40; at += 1) {
      other?.add(Buffer.alloc(1_000));
      for (const each of unread) each?.add(Buffer.alloc(64 * 1024));
      expect(memory.bytes).toBeLessThan(4.1 * mib);
    }
    expect([other?.isDropped, other?.relayedBytes]).toEqual([false, 40_000]);
    expect(unread.some((each) => each?.isDropped)).toBe(true);
  });

  it.each([
    [0, 256 * mib],
    [512 * mib, 64 * mib],
    [2 ** 63, 256 * mib],
  ])('has, for a memory limit of %d bytes, a default of %d bytes', (limit, bytes) => {
    expect(computeContinueBytes(limit)).toBe(bytes);
  });
});
