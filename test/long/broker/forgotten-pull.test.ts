import { jetstreamManager } from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it, type TestContext } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { consumerName } from '#shared/broker/contract/subjects.ts';
import { startParties, type Parties, type TestIngress } from '../../helpers/broker/broker-parties.ts';
import { startPausableProxy } from '../../helpers/servers/pausable-proxy.ts';
import { until } from '../../helpers/until.ts';

async function start(onTestFinished: TestContext['onTestFinished'], natsUrl?: string): Promise<Parties> {
  const parties = await startParties({ ...(natsUrl && { natsUrl }), ingress: { offers: false } });
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
    } else publish(subject, /\.pull\.(high|normal|low)\.\d+$/.test(subject) ? '' : payload, reply);
  };
}

/** Pulls that wait at the server for each lane of the only pool. */
async function waitingAtServer({ broker, workers }: TestIngress): Promise<number[]> {
  const manager = await jetstreamManager(broker.nc, { checkAPI: false });
  const pool = [...workers.pools()][0]?.pool ?? '';
  const consumers = priorityClasses.map((name) => consumerName({ pool, class: name }));
  const infos = consumers.map((consumer) => manager.consumers.info(broker.subjects.stream('gpu'), consumer));
  return (await Promise.all(infos)).map((info) => info.num_waiting);
}

describe.concurrent('a pull that waits', () => {
  it('is made again within seconds when the server never got it, and those of other lanes are left alone', async ({
    onTestFinished,
  }) => {
    const { ingress, addWorker } = await start(onTestFinished);
    const pulls = losePulls(ingress);
    await addWorker({ slots: 1 });
    await until(() => pulls.count === lanes, 5_000);
    pulls.isLossy = true;
    await ingress.send({}).finished;
    await until(() => pulls.count === lanes + 1, 5_000);
    pulls.isLossy = false;
    expect(await waitingAtServer(ingress)).toEqual([1, 0, 1]);
    const { state, queuedAt, claimedAt = Infinity } = await ingress.send({}).finished;
    expect(state).toBe('done');
    expect(claimedAt - queuedAt).toBeLessThan(9_000);
    await until(async () => (await waitingAtServer(ingress)).every((count) => count === 1), 2_000);
  });

  it.for([
    { by: 'an ingress that has the server say so', prepare: () => undefined },
    { by: 'an ingress of the release before', prepare: forgetHeartbeats },
  ])('is left alone while it waits, by way of $by', async ({ prepare }, { expect, onTestFinished }) => {
    const { ingress, addWorker } = await start(onTestFinished);
    prepare(ingress);
    const pulls = losePulls(ingress);
    await addWorker({ slots: 1 });
    await until(() => pulls.count === lanes, 5_000);
    await sleep(9_000);
    expect(pulls.count).toBe(lanes);
  });

  it('is left alone when everything stood still for a while', async ({ expect, onTestFinished }) => {
    const proxy = await startPausableProxy(Number(new URL(inject('natsUrl')).port));
    onTestFinished(() => proxy.close());
    const { ingress, addWorker } = await start(onTestFinished, `nats://127.0.0.1:${proxy.port}`);
    const pulls = losePulls(ingress);
    await addWorker({ slots: 1 });
    await until(() => pulls.count === lanes, 5_000);
    proxy.pause();
    await sleep(9_000);
    proxy.resume();
    await sleep(1_500);
    expect(pulls.count).toBe(lanes);
    expect(await waitingAtServer(ingress)).toEqual([1, 1, 1]);
  });
});
