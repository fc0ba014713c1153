import { expect, it } from 'vitest';
import { computeAnswerBudget, LineMemory } from '#services/batch-runner/lines/line-memory.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import { errorWith } from '../../../helpers/error-with.ts';

it('the memory of answers suffices for sixteen pictures at once, and is free again once one is recorded', () => {
  const room = new MemoryBudget(computeAnswerBudget(0));
  const lines = Array.from({ length: 17 }, () => new LineMemory(room));
  const last = lines.pop();
  for (const line of lines) line.reserve('draw');
  expect(() => last?.reserve('draw')).toThrow(errorWith('overloaded'));
  for (let time = 0; time < 2; time += 1) lines[0]?.release();
  last?.reserve('draw');
  expect(() => lines[0]?.reserve('draw')).toThrow(errorWith('overloaded'));
});

it('the memory of answers is a twelfth of a small process, of which an answer may use half', () => {
  const room = new MemoryBudget(computeAnswerBudget(480 * 1024 ** 2));
  const half = 20 * 1024 ** 2;
  const [first, second, third] = [new LineMemory(room), new LineMemory(room), new LineMemory(room)];
  expect(() => first.reserveAnswer(half + 1)).toThrow(errorWith('upstream_failed'));
  first.reserve('draw');
  for (const line of [first, second]) line.reserveAnswer(half);
  expect(() => third.reserveAnswer(100_000)).toThrow(errorWith('overloaded'));
  third.reserveAnswer(64 * 1024);
  first.release();
  third.reserveAnswer(half);
});

it('the memory of answers is not needed for text answers', () => {
  const room = new MemoryBudget(0);
  for (let line = 0; line < 100; line += 1) new LineMemory(room).reserve('generate');
  expect(room.take(1)).toBe(true);
});
