import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Broker } from '#shared/broker/connect-broker.ts';
import { startParties, type Parties } from '../../../helpers/broker-parties.ts';
import { until } from '../../../helpers/start-cluster.ts';

async function start(): Promise<Parties> {
  const parties = await startParties({ ingress: { offers: false } });
  onTestFinished(() => parties.close());
  return parties;
}

/** Lanes of a pool, in each of which a worker waits with a pull of its own. */
const lanes = 3;

/** A pull that waits, on its way from an ingress to the server. */
function isWaitingPull(subject: string, payload: string | Uint8Array): boolean {
  return subject.startsWith('$JS.API.CONSUMER.MSG.NEXT.') && Buffer.from(payload).includes('"expires"');
}

/** Has an ingress lose pulls that wait while `isLossy`, as servers do that are choosing who keeps a lane; counts all of them. */
function losePulls({ broker }: { broker: Broker }): { isLossy: boolean; count: number } {
  const pulls = { isLossy: false, count: 0 };
  const publish = broker.publish.bind(broker);
  broker.publish = (subject, payload, reply) => {
    const isOne = isWaitingPull(subject, payload);
    if (isOne) pulls.count += 1;
    if (!isOne || !pulls.isLossy) publish(subject, payload, reply);
  };
  return pulls;
}

/** Makes an ingress one of an older release, which has the server give no signs of life. */
function forgetHeartbeats({ broker }: { broker: Broker }): void {
  const publish = broker.publish.bind(broker);
  broker.publish = (subject, payload, reply) => {
    if (isWaitingPull(subject, payload)) {
      const { idle_heartbeat: _none, ...rest } = JSON.parse(Buffer.from(payload).toString()) as Record<string, unknown>;
      publish(subject, JSON.stringify(rest), reply);
    } else publish(subject, /\.pull\.(high|normal|low)$/.test(subject) ? '' : payload, reply);
  };
}

describe.concurrent('a pull that waits', () => {
  it('is made again within seconds when the server never got it', async () => {
    const { ingress, addWorker } = await start();
    const pulls = losePulls(ingress);
    await addWorker({ slots: 1 });
    await until(() => pulls.count === lanes, 5_000);
    pulls.isLossy = true;
    await ingress.send({}).finished;
    await until(() => pulls.count === lanes + 1, 5_000);
    pulls.isLossy = false;
    const { state, queuedAt, claimedAt = Infinity } = await ingress.send({}).finished;
    expect(state).toBe('done');
    expect(claimedAt - queuedAt).toBeLessThan(8_000);
  });

  it.each([
    { by: 'an ingress that has the server say so', prepare: () => undefined },
    { by: 'an ingress of the release before', prepare: forgetHeartbeats },
  ])('is left alone while it waits, by way of $by', async ({ prepare }) => {
    const { ingress, addWorker } = await start();
    prepare(ingress);
    const pulls = losePulls(ingress);
    await addWorker({ slots: 1 });
    await until(() => pulls.count === lanes, 5_000);
    await sleep(8_000);
    expect(pulls.count).toBe(lanes);
  });
});
