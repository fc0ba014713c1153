import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { mapInPages } from '#shared/store/redis/map-in-pages.ts';

it('a read in pages reads 500 at a time, and returns the answers in order', async () => {
  const all = Array.from({ length: 1_234 }, (_, at) => at);
  let [running, most] = [0, 0];
  const answers = await mapInPages(all, async (each) => {
    running += 1;
    most = Math.max(most, running);
    // The last ones of a page are answered first.
    for (let turns = each % 3; turns < 3; turns++) await turn();
    running -= 1;
    return each * 2;
  });
  expect(answers).toEqual(all.map((each) => each * 2));
  expect(most).toBe(500);
});

it('a read in pages ends with the first failure', async () => {
  const asked: number[] = [];
  const asking = mapInPages(Array.from({ length: 600 }), async () => {
    asked.push(1);
    throw new Error('away');
  });
  await expect(asking).rejects.toThrow('away');
  expect(asked).toHaveLength(500);
});
