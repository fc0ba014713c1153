import { describe, expect, it } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { emptyIngressStats, publishIngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { ErrorView, type ErrorRateSnapshot } from '#services/batch-runner/alerts/error-view.ts';
import { checkErrorRate } from '#services/batch-runner/alerts/check-error-rate.ts';
import { startParties } from '../../../helpers/broker/broker-parties.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';
import { openAlerts } from '../../../helpers/webhooks/open-test-webhooks.ts';

async function open() {
  const { sent, states } = await openAlerts('rtr.errors.*');
  const look = (requests: number, faults: number, more: Partial<ErrorRateSnapshot> = {}) =>
    checkErrorRate({ requests, faults, isWhole: true, ...more }, { states, percent: 20 });
  return { lookAll: (...seen: Parameters<typeof look>) => Promise.all([1, 2, 3].map(() => look(...seen))), sent };
}

describe('the error rate', () => {
  it('is reported once when it is high, however many runners check it, and once when it is normal', async () => {
    const { lookAll, sent } = await open();
    await lookAll(100, 20);
    expect(await sent()).toEqual([]);
    await lookAll(100, 21);
    await lookAll(100, 90);
    const high = { requests: 100, failed: 21, percent: 21, threshold: 20, seconds: 300 };
    expect(await sent()).toEqual([{ type: 'rtr.errors.high', data: high }]);
    // Between half of the percentage and the whole, the state stays.
    await lookAll(100, 15);
    await lookAll(100, 21);
    expect(await sent()).toHaveLength(1);
    await lookAll(100, 10);
    await lookAll(100, 15);
    expect(await sent()).toHaveLength(2);
    expect(await sent()).toContainEqual({ type: 'rtr.errors.normal', data: { ...high, failed: 10, percent: 10 } });
    await lookAll(100, 30);
    expect(await sent()).toHaveLength(3);
  });

  it('is not reported for few requests, and does not become normal without requests or with an incomplete window', async () => {
    const { lookAll, sent } = await open();
    await lookAll(19, 19);
    expect(await sent()).toEqual([]);
    await lookAll(20, 19);
    await lookAll(0, 0);
    await lookAll(100, 0, { isWhole: false });
    expect(await sent()).toHaveLength(1);
    await lookAll(1, 0);
    expect(await sent()).toHaveLength(2);
  });
});

/** Publishes requests and faults per second, the oldest first, as stats of an ingress at a time. */
function tell(broker: Broker, ingress: string, at: number, requests: number[], faults: number[]): void {
  publishIngressStats(broker, ingress, { ...emptyIngressStats, at, requests, faults });
}

it('the error view counts each second of each ingress once, including seconds of lost messages', async () => {
  const { broker } = stopAfterTest(await startParties()).ingress;
  const view = stopAfterTest(new ErrorView(broker));
  await broker.flush();
  const at = 1_000_000_000_000;
  tell(broker, 'a', at, [5, 1, 2], [0, 0, 1]);
  tell(broker, 'a', at, [5, 1, 2], [0, 0, 1]);
  tell(broker, 'a', at + 2_000, [2, 3, 4], [1, 3, 0]);
  // Another ingress with a wrong clock.
  tell(broker, 'b', 5_000, [10], [10]);
  await until(() => view.read().requests >= 25);
  expect(view.read()).toEqual({ requests: 25, faults: 14, isWhole: false });
  expect(view.read(Date.now() + 301_000)).toMatchObject({ requests: 0, faults: 0 });
});
