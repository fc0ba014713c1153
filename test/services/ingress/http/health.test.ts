import { expect, it } from 'vitest';
import { readHealth } from '#services/ingress/http/health.ts';

it.each([
  ['ok', true, true, false, false],
  ['degraded', false, true, false, false],
  ['degraded', true, false, false, false],
  ['degraded', true, true, true, false],
  ['draining', true, true, false, true],
  ['draining', false, false, true, true],
])('a node is %s with NATS %s, Redis %s, a lost store %s, leaving %s', async (status, nats, redis, isLost, leaves) => {
  const health = await readHealth({
    workers: { workers: () => [] },
    broker: { connected: nats },
    redis: { ready: async () => redis },
    store: { isLost },
    isDraining: () => leaves,
  });
  expect(health).toMatchObject({ status, nats, redis, store: isLost ? 'lost' : 'intact' });
});
