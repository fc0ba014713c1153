import { expect, it } from 'vitest';
import type { HeavyTask } from '#services/batch-runner/heavy-work.ts';
import { RequestBudget, RequestMemory } from '#services/batch-runner/request-memory.ts';
import { errorWith } from '../../helpers/error-with.ts';

const heavyTask: HeavyTask = { begin: () => Promise.resolve(undefined), end: () => undefined };
const overloaded = errorWith('overloaded');

/** Opens the memory of requests in a process that has 1,000 bytes for them. */
function openBudget() {
  const budget = new RequestBudget(1_000);
  return {
    budget,
    open: (owner: string, reservedBytes = 0) => new RequestMemory({ budget, owner, heavyTask, reservedBytes }),
  };
}

it('what the requests of an owner keep while they run takes half of what others leave', async () => {
  const { budget, open } = openBudget();
  const [first, second, other] = [open('ada'), open('ada'), open('bob')];
  await first.grow(100);
  first.hold(300, 'owner');
  await second.grow(50);
  second.hold(50, 'owner');
  second.hold(75, 'owner');
  expect(() => second.hold(1, 'owner')).toThrow(overloaded);
  expect(budget.refusals).toBe(1);
  // What a running answer adds to itself needs only the memory of the process.
  second.hold(100, 'process');
  other.hold(325, 'owner');
  expect(() => other.hold(1, 'owner')).toThrow(overloaded);
  expect(budget.refusals).toBe(2);
  for (const request of [first, second, other]) request.release();
  expect(budget.taken).toBe(0);
  const next = open('ada');
  next.hold(1_000, 'owner');
  next.release();
});

it('requests of an owner that wait do not use up what its running requests keep', async () => {
  const { budget, open } = openBudget();
  const waiting = Array.from({ length: 6 }, () => open('ada'));
  for (const request of waiting) await request.grow(100);
  budget.take(200);
  const line = open('ada', 200);
  await line.grow(200);
  const running = open('ada');
  running.hold(150, 'owner');
  for (const request of [...waiting, line, running]) request.release();
  expect(budget.taken).toBe(200);
});

it('a request that is alone keeps any amount while it runs, also if its caller has reserved a part', async () => {
  const { budget, open } = openBudget();
  budget.take(900);
  const line = open('ada', 900);
  await line.grow(900);
  line.hold(500, 'owner');
  line.hold(500, 'owner');
  expect(() => open('bob').hold(1, 'owner')).toThrow(overloaded);
  line.release();
  expect(budget.taken).toBe(900);
});

it('a request gives back what it no longer uses, first what it has taken beyond the part that its caller has reserved', async () => {
  const { budget, open } = openBudget();
  budget.take(300);
  const line = open('ada', 300);
  await line.grow(500);
  line.shrink(250);
  expect(budget.taken).toBe(300);
  await line.grow(50);
  expect(budget.taken).toBe(300);
  await line.grow(100);
  expect(budget.taken).toBe(400);
  line.release();
  line.shrink(100);
  expect(budget.taken).toBe(300);
});

it('a request that has ended keeps nothing', () => {
  const { budget, open } = openBudget();
  const request = open('ada');
  request.hold(10, 'owner');
  request.release();
  request.hold(10, 'owner');
  request.release();
  expect(budget.taken).toBe(0);
});
