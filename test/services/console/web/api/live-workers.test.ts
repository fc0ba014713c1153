import { expect, it } from 'vitest';
import { reuseUnchanged } from '#services/console/web/api/live-workers.ts';

it('an item that has not changed in a newer list is the same object as before', () => {
  const item = (id: string, ...models: string[]) => ({ id, busy: models.length, models });
  const before = [item('a', 'm', 'n'), item('b', 'm'), { ...item('c', 'm'), reason: 'limited' }, item('gone')];
  const after = [item('c', 'm'), item('b', 'n'), item('a', 'm', 'n'), item('new')];
  const kept = reuseUnchanged(before, structuredClone(after));
  expect(kept).toEqual(after);
  expect(kept.map((each) => before.indexOf(each))).toEqual([-1, -1, 0, -1]);
  expect(reuseUnchanged(undefined, after)).toBe(after);
});
