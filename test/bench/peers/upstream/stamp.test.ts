import { describe, expect, it } from 'vitest';
import { clockUs, noTime, stamp, StampReader } from './stamp.ts';

const times = [1, 1_234_567_890, clockUs()];
const body = Buffer.from(`a @ b ${times.map((us) => `{"text":"${stamp(us)} bow"}`).join('@')}${noTime} @`);

describe('the reader of stamps', () => {
  it('finds every stamp once, wherever the pieces are cut', () => {
    for (let at = 0; at <= body.length; at += 1) {
      const found: number[] = [];
      const reader = new StampReader((us) => found.push(us));
      reader.push(body.subarray(0, at));
      reader.push(body.subarray(at));
      expect(found).toEqual([...times, 0]);
    }
  });

  it('finds stamps that arrive byte by byte', () => {
    const found: number[] = [];
    const reader = new StampReader((us) => found.push(us));
    for (const byte of body) reader.push(Buffer.from([byte]));
    expect(found).toEqual([...times, 0]);
  });
});
