import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerWorkerMetrics } from '#services/ingress/metrics/worker-metrics.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

it('an ejected worker is counted apart, and named with its reason until it serves again', async () => {
  const facts = [{ id: 'sick' }, { id: 'b' }, { id: 'c', accepting: false }];
  const { workers } = livePool({ tier: 'gpu', pool: 'p' }, facts);
  const [sick] = workers;
  const registry = new Registry();
  registerWorkerMetrics(registry, () => workers);
  sick?.health.eject('demo', 'upstream_failed', performance.now());
  const before = await registry.metrics();
  expect(before).toContain('rtr_workers{tier="gpu",state="ejected"} 1');
  expect(before).toContain('rtr_workers{tier="gpu",state="serving"} 1');
  expect(before).toContain('rtr_ejected_workers{tier="gpu",worker="sick",model="demo",reason="upstream_failed"} 1');
  sick?.health.recover('demo', performance.now());
  const after = await registry.metrics();
  expect(after).toContain('rtr_workers{tier="gpu",state="ejected"} 0');
  expect(after).not.toContain('rtr_ejected_workers{');
});
