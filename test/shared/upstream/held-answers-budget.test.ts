import { expect, it } from 'vitest';
import { HeldAnswersBudget } from '#shared/upstream/held-answers-budget.ts';
import { errorWith } from '../../helpers/error-with.ts';

const mebibyte = 1024 * 1024;

it('all answers of a process have a tenth of its memory together, and get it back', () => {
  const answers = new HeldAnswersBudget(512 * mebibyte);
  const [first, second] = [answers.openAnswer(), answers.openAnswer()];
  first.grow(30 * mebibyte);
  second.grow(20 * mebibyte);
  expect(() => second.grow(2 * mebibyte)).toThrow(errorWith('overloaded'));
  first.release();
  second.grow(30 * mebibyte);
  expect(() => second.grow(2 * mebibyte)).toThrow(errorWith('upstream_failed'));
  second.release();
  second.release();
  answers.openAnswer().grow(51 * mebibyte);
});

it('one answer has 64 MiB without a memory limit', () => {
  const answers = new HeldAnswersBudget(0);
  for (const answer of [answers.openAnswer(), answers.openAnswer()]) {
    answer.grow(64 * mebibyte);
    expect(() => answer.grow(1)).toThrow(errorWith('upstream_failed'));
  }
});
