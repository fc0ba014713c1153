import { expect, it } from 'vitest';
import { announceChange } from '#services/console/api/api-parts.ts';

it('a change is announced after it was made, and also if the store did not say whether it was made', async () => {
  const steps: string[] = [];
  const parts = { announce: async (changed: string) => void steps.push(changed) };
  const change = async () => {
    steps.push('made');
    return 'outcome';
  };
  expect(await announceChange(parts, 'user:1', change)).toBe('outcome');
  const failing = announceChange(parts, 'key-1', () => Promise.reject(new Error('no answer')));
  await expect(failing).rejects.toThrow('no answer');
  expect(steps).toEqual(['made', 'user:1', 'key-1']);
});
