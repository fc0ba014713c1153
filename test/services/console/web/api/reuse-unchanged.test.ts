import { expect, it } from 'vitest';
import { reuseUnchanged } from '#services/console/web/api/reuse-unchanged.ts';

it('an item that has not changed in a newer list is the same object as before', () => {
  const before = [
    { id: 'a', busy: 1, models: ['m', 'n'] },
    { id: 'b', busy: 1, models: ['m'] },
    { id: 'c', busy: 1, models: ['m'], reason: 'limited' },
    { id: 'gone', busy: 0, models: [] },
  ];
  const after = [
    { id: 'c', busy: 1, models: ['m'] },
    { id: 'b', busy: 1, models: ['n'] },
    { id: 'a', busy: 1, models: ['m', 'n'] },
    { id: 'new', busy: 0, models: [] },
  ];
  const kept = reuseUnchanged(before, structuredClone(after));
  expect(kept).toEqual(after);
  expect(kept.map((each) => before.indexOf(each as (typeof before)[number]))).toEqual([-1, -1, 0, -1]);
  expect(reuseUnchanged(undefined, after)).toBe(after);
});
