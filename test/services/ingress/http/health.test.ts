import { expect, inject, it } from 'vitest';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readHealth } from '#services/ingress/http/health.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { uniqueName } from '../../../helpers/unique-name.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

it.each([
  ['ok', true, true, false, false],
  ['degraded', false, true, false, false],
  ['degraded', true, false, false, false],
  ['degraded', true, true, true, false],
  ['draining', true, true, false, true],
  ['draining', false, false, true, true],
])('a node is %s with NATS %s, Redis %s, a lost store %s, leaving %s', async (status, nats, redis, isLost, leaves) => {
  const to = { url: inject('natsUrl'), name: 'test', prefix: uniqueName('health'), log: silentLog };
  const broker = stopAfterTest(await connectBroker(to));
  const health = await readHealth({
    workers: stopAfterTest(new LiveWorkers(broker, silentLog)),
    broker: { connected: nats },
    redis: { ready: async () => redis },
    store: { isLost },
    isDraining: () => leaves,
  });
  expect(health).toMatchObject({ status, nats, redis, store: isLost ? 'lost' : 'intact' });
});
