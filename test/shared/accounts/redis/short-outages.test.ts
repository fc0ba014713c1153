import { once } from 'node:events';
import { expect, it } from 'vitest';
import { ShortOutages } from '#shared/accounts/redis/short-outages.ts';
import { RouterError } from '#shared/core/errors.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';

it('a request waits no longer for many short outages than for one', { timeout: 10_000 }, async () => {
  const { connection } = await openKeyStore();
  const outages = new ShortOutages(connection, 1_000);
  const startedAt = performance.now();
  let asked = 0;
  const ask = async (): Promise<never> => {
    asked += 1;
    const lost = once(connection.redis, 'close');
    connection.redis.disconnect(true);
    await lost;
    throw new RouterError('store_unavailable', 'away');
  };
  await expect(outages.through(ask)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(asked).toBeGreaterThan(2);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
});

it('what fails for another reason than an outage is not repeated', async () => {
  const { connection } = await openKeyStore();
  const outages = new ShortOutages(connection, 1_000);
  let asked = 0;
  const ask = async (): Promise<never> => {
    asked += 1;
    throw new RouterError('store_unavailable', 'the store was emptied');
  };
  await expect(outages.through(ask)).rejects.toMatchObject({ message: 'the store was emptied' });
  expect(asked).toBe(1);
  expect(outages.through(() => 'at once')).toBe('at once');
});
