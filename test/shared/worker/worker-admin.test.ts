import { expect, it, onTestFinished } from 'vitest';
import { Releases } from '#shared/core/release.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { openWorkerAdmin } from '#shared/worker/worker-admin.ts';

it('a worker reports no state of the broker before it connects to it', async () => {
  const releases = new Releases();
  onTestFinished(async () => void (await releases.releaseAll()));
  const config = { ADMIN_PORT: undefined, ADMIN_HOST: '127.0.0.1' };
  const admin = await openWorkerAdmin('gpu-worker', config, silentLog, releases);
  expect(await admin.registry.metrics()).not.toMatch(/^rtr_dependency_up\{/m);
  const worker = { status: { slots: 1, busy: 0, accepting: true, draining: false } };
  let ms: number | undefined;
  admin.follow(worker, { connected: true, measureRoundTripMs: async () => ms });
  expect(await admin.registry.metrics()).toContain('rtr_dependency_up{dependency="nats"} 0');
  ms = 2;
  const metrics = await admin.registry.metrics();
  expect(metrics).toContain('rtr_dependency_up{dependency="nats"} 1');
  expect(metrics).toContain('rtr_dependency_round_trip_seconds{dependency="nats"} 0.002');
});
