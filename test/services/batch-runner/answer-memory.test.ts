import { expect, it, onTestFinished, vi } from 'vitest';
import { AnswerBudget, AnswerMemory, computeAnswerBudget } from '#services/batch-runner/answer-memory.ts';
import { errorWith } from '../../helpers/error-with.ts';

const mebibyte = 1024 ** 2;
const { signal } = new AbortController();

/** Opens a process with this memory for answers, and returns the memories of this many answers. */
function open(count: number, maxBytes = 40 * mebibyte) {
  const budget = new AnswerBudget(maxBytes);
  return { budget, answers: Array.from({ length: count }, () => new AnswerMemory(budget)) };
}

/** Reserves the memory of an answer, and returns what has become of that so far. */
function reserve(answer: AnswerMemory | undefined, bytes: number, stop = signal) {
  const state = { is: 'waiting' };
  const reserved = answer?.reserveAnswer(bytes, stop).then(
    () => (state.is = 'reserved'),
    ({ code }: { code: string }) => (state.is = code),
  );
  return { state, reserved };
}

it('the memory of answers suffices for sixteen pictures at once, and is free again once one is recorded', () => {
  const { answers } = open(17, computeAnswerBudget(0));
  const last = answers.pop();
  for (const answer of answers) answer.reserve('draw');
  expect(() => last?.reserve('draw')).toThrow(errorWith('overloaded'));
  for (let time = 0; time < 2; time += 1) answers[0]?.release();
  last?.reserve('draw');
  expect(() => answers[0]?.reserve('draw')).toThrow(errorWith('overloaded'));
});

it('the memory of answers is a twelfth of a small process, of which an answer may use half', async () => {
  const { answers } = open(3, computeAnswerBudget(480 * mebibyte));
  const half = 20 * mebibyte;
  const [first, second, third] = answers;
  await expect(first?.reserveAnswer(half + 1, signal)).rejects.toMatchObject({ code: 'request_exceeds_limit' });
  first?.reserve('draw');
  for (const answer of [first, second]) await answer?.reserveAnswer(half, signal);
  await third?.reserveAnswer(64 * 1024, signal);
});

it('an answer that finds no room waits for others to be recorded, in its turn and before requests that begin', async () => {
  const { answers } = open(5);
  const [first, second, third, fourth, last] = answers;
  for (const answer of [first, second]) await answer?.reserveAnswer(20 * mebibyte, signal);
  const [large, small] = [reserve(third, 15 * mebibyte), reserve(fourth, mebibyte)];
  expect(() => last?.reserve('embed')).toThrow(errorWith('overloaded'));
  expect([large.state.is, small.state.is]).toEqual(['waiting', 'waiting']);
  first?.release();
  await Promise.all([large.reserved, small.reserved]);
  expect([large.state.is, small.state.is]).toEqual(['reserved', 'reserved']);
  last?.reserve('embed');
});

it('answers that are larger than what was reserved for them do not wait for each other', async () => {
  const { answers } = open(5);
  for (const answer of answers) answer.reserve('draw');
  const waiting = answers.map((answer) => reserve(answer, 9 * mebibyte));
  for (const [at, { reserved }] of waiting.entries()) {
    await reserved;
    answers[at]?.release();
  }
  expect(waiting.map(({ state }) => state.is)).toEqual(waiting.map(() => 'reserved'));
});

it('the answers that wait have at most half as many bytes as the budget, and wait for a minute at most', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { answers, budget } = open(5);
  budget.take(40 * mebibyte);
  const [first, second, third, fourth, last] = answers;
  const stop = new AbortController();
  const [waiting, stopped] = [reserve(first, 15 * mebibyte), reserve(second, 5 * mebibyte, stop.signal)];
  const refused = reserve(third, mebibyte);
  await refused.reserved;
  expect(refused.state.is).toBe('overloaded');
  stop.abort();
  await stopped.reserved;
  expect(stopped.state.is).toBe('overloaded');
  await vi.advanceTimersByTimeAsync(59_000);
  const later = reserve(fourth, mebibyte);
  expect(waiting.state.is).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(waiting.state.is).toBe('overloaded');
  budget.release(40 * mebibyte);
  await later.reserved;
  expect(later.state.is).toBe('reserved');
  fourth?.release();
  expect(budget.taken).toBe(0);
  last?.reserve('draw');
});

it('the memory of answers is not needed for text answers', () => {
  const { answers, budget } = open(100, 0);
  for (const answer of answers) answer.reserve('generate');
  expect(budget.take(1)).toBe(true);
});
