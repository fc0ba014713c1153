import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FrameMemory, type KeptFrame } from '#shared/broker/worker/frame-memory.ts';
import { seededRandom } from '../../../helpers/seeded-random.ts';

/** More than frames that share memory with others may have. */
const largeBytes = 100 * 1024;

describe('the memory of sent frames', () => {
  it('returns kept frames of any length unchanged, in whatever order they come and go', () => {
    const random = seededRandom(1);
    const memory = new FrameMemory();
    const kept: { frame: KeptFrame; bytes: Buffer }[] = [];
    for (let round = 0; round < 4_000; round += 1) {
      const length = Math.floor(random() ** 8 * 1.5 * largeBytes);
      const bytes = Buffer.alloc(length, `${round} `);
      const frame = memory.keep(bytes);
      if (frame.length !== length) throw new Error(`frame of round ${round} has ${frame.length} bytes`);
      kept.push({ frame, bytes });
      if (kept.length < 300) continue;
      const [gone] = kept.splice(Math.floor(random() * kept.length), 1);
      if (gone && !Buffer.from(gone.frame.read()).equals(gone.bytes))
        throw new Error(`frame of round ${round} changed`);
      gone?.frame.release();
    }
    for (const { frame, bytes } of kept) expect(Buffer.from(frame.read()).equals(bytes)).toBe(true);
  });

  it('does not change bytes that were read before, when it is filled again', () => {
    const memory = new FrameMemory();
    const first = memory.keep(Buffer.from('the answer of one client'));
    const read = first.read();
    first.release();
    for (let frame = 0; frame < 1_000; frame += 1) memory.keep(Buffer.alloc(1_024, 'x')).release();
    expect(Buffer.from(read).toString()).toBe('the answer of one client');
  });

  it.each([5, largeBytes])('returns nothing of a released frame: %i bytes', (length) => {
    const memory = new FrameMemory();
    const frame = memory.keep(Buffer.alloc(length, 'a'));
    frame.release();
    memory.keep(Buffer.alloc(length, 'b'));
    expect(() => frame.read()).toThrow('released');
  });

  it('counts a frame that is released twice once', () => {
    const memory = new FrameMemory();
    const one = memory.keep(Buffer.from('one'));
    const other = memory.keep(Buffer.from('other'));
    one.release();
    one.release();
    memory.keep(Buffer.from('x'.repeat(10)));
    expect(Buffer.from(other.read()).toString()).toBe('other');
  });

  it('is reused, however many frames pass through it', () => {
    const allocate = vi.spyOn(Buffer, 'allocUnsafeSlow');
    onTestFinished(() => allocate.mockRestore());
    const memory = new FrameMemory();
    const waiting: KeptFrame[] = [];
    for (let frame = 0; frame < 20_000; frame += 1) {
      waiting.push(memory.keep(Buffer.alloc(1_000)));
      if (waiting.length > 1_000) waiting.shift()?.release();
    }
    // A megabyte waits, in blocks of a quarter of one; the first and the last may be half empty.
    expect(allocate.mock.calls.length).toBeLessThanOrEqual(6);
  });
});
