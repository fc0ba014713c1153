import { expect, inject, it } from 'vitest';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readHealth } from '#services/ingress/http/health.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { uniqueName } from '../../../helpers/unique-name.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

it.each([
  ['ok', true, true, 'intact', false],
  ['degraded', false, true, 'intact', false],
  ['degraded', true, false, 'intact', false],
  ['degraded', true, true, 'lost', false],
  ['degraded', true, true, 'read_only', false],
  ['draining', true, true, 'intact', true],
  ['draining', false, false, 'lost', true],
] as const)(
  'a node is %s with NATS %s, Redis %s, the store %s, leaving %s',
  async (status, nats, redis, store, leaves) => {
    const to = { url: inject('natsUrl'), name: 'test', prefix: uniqueName('health'), log: silentLog };
    const broker = stopAfterTest(await connectBroker(to));
    const health = await readHealth({
      workers: stopAfterTest(new LiveWorkers(broker, silentLog)),
      broker: { connected: nats },
      redis: { ready: async () => redis },
      store: { isLost: store === 'lost' },
      writes: { areRefused: store === 'read_only' },
      isDraining: () => leaves,
    });
    expect(health).toMatchObject({ status, nats, redis, store });
  },
);
