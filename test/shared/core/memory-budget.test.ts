import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import { computeRequestBudget } from '#services/batch-runner/request-memory.ts';

it('shared memory is never exceeded in sum, except by a single user, and is available again once it is released', () => {
  const most = 100;
  const step = fc.record({ amount: fc.integer({ min: 1, max: 150 }), givesBack: fc.integer({ min: 0, max: 3 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const room = new MemoryBudget(most);
      const taken: number[] = [];
      const sum = (): number => taken.reduce((all, amount) => all + amount, 0);
      for (const { amount, givesBack } of steps) {
        const fits = taken.length === 0 || sum() + amount <= most;
        expect(room.take(amount)).toBe(fits);
        if (fits) taken.push(amount);
        for (const given of taken.splice(0, givesBack)) room.release(given);
      }
      for (const given of taken) room.release(given);
      expect(room.take(most)).toBe(true);
      const before = room.refusals;
      expect(room.take(1)).toBe(false);
      expect(room.refusals).toBe(before + 1);
    }),
  );
});

it('requests take at most an eighth of the memory of a process with a limit', () => {
  const mebibyte = 1024 * 1024;
  expect(computeRequestBudget(32 * mebibyte, 512 * mebibyte)).toBe(32 * mebibyte);
  expect(computeRequestBudget(32 * mebibyte, 0)).toBe(128 * mebibyte);
});
