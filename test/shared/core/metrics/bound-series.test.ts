import { Counter, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { BoundCounter } from '#shared/core/metrics/bound-counter.ts';
import { BoundHistogram } from '#shared/core/metrics/bound-histogram.ts';
import { BoundedNames } from '#shared/core/metrics/bounded-names.ts';

const values = [0, 0.05, 0.1, 0.1000001, 0.3, 0.5, 2, 400];
const shape = { name: 'h', help: 'h', labelNames: ['model'] };

it("a bound histogram writes the same text as the library's own", async () => {
  const [theirs, ours] = [new Registry(), new Registry()];
  const buckets = [0.1, 0.5, 1];
  const histogram = new Histogram({ ...shape, buckets, registers: [theirs] });
  const bound = new BoundHistogram({ ...shape, buckets, registers: [ours] }).bind({ model: 'a "quoted" one' });
  for (const value of values) {
    histogram.observe({ model: 'a "quoted" one' }, value);
    bound.observe(value);
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
});

it("a bound counter writes the same text as the library's own, at every scrape", async () => {
  const [theirs, ours] = [new Registry(), new Registry()];
  const counter = new Counter({ ...shape, registers: [theirs] });
  const bound = new BoundCounter({ ...shape, registers: [ours] }).bind({ model: 'a' });
  for (const value of values) {
    counter.inc({ model: 'a' }, value);
    bound.add(value);
  }
  bound.add();
  counter.inc({ model: 'a' });
  expect(await ours.metrics()).toBe(await theirs.metrics());
  expect(await ours.metrics()).toBe(await theirs.metrics());
});

it('bounded names keep the first names and count later ones as other', () => {
  const names = new BoundedNames(2);
  const labels = ['a', 'b', 'c', 'a', 'd', 'b'].map((name) => names.toLabel(name));
  expect(labels).toEqual(['a', 'b', 'other', 'a', 'other', 'b']);
});
