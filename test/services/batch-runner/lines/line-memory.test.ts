import { expect, it } from 'vitest';
import { answerMemory, LineMemory } from '#services/batch-runner/lines/line-memory.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import { errorWith } from '../../../helpers/error-with.ts';

it('the memory of answers suffices for sixteen pictures at once, and is free again once one is recorded', () => {
  const room = new MemoryBudget(answerMemory);
  const lines = Array.from({ length: 17 }, () => new LineMemory(room));
  const last = lines.pop();
  for (const line of lines) line.take('draw');
  expect(() => last?.take('draw')).toThrow(errorWith('overloaded'));
  for (let time = 0; time < 2; time += 1) lines[0]?.release();
  last?.take('draw');
  expect(() => lines[0]?.take('draw')).toThrow(errorWith('overloaded'));
});

it('the memory of answers is not needed for text answers', () => {
  const room = new MemoryBudget(0);
  for (let line = 0; line < 100; line += 1) new LineMemory(room).take('generate');
  expect(room.take(1)).toBe(true);
});
