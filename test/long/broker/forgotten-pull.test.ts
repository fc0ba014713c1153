import { jetstreamManager } from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject } from 'vitest';
import type { Message } from '#shared/broker/connection/outbox.ts';
import { formatConsumerName } from '#shared/broker/contract/subjects.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import type { TestIngress } from '../../helpers/broker/broker-parties.ts';
import { it } from '../../helpers/broker/it-with-parties.ts';
import { startPausableProxy } from '../../helpers/servers/pausable-proxy.ts';
import { until } from '../../helpers/until.ts';

const options = { ingress: { offers: false } };

/** Lanes of a pool, in each of which a worker waits with a pull of its own. */
const lanes = 3;

/** A pull that waits, on its way from an ingress to the server. */
function isWaitingPull({ subject, payload }: Message): boolean {
  return subject.startsWith('$JS.API.CONSUMER.MSG.NEXT.') && Buffer.from(payload).includes('"expires"');
}

/** Has an ingress lose pulls that wait while `isLossy`, as servers do that are choosing who keeps a lane; counts all of them. */
function losePulls({ onSend }: TestIngress): { isLossy: boolean; count: number } {
  const pulls = { isLossy: false, count: 0 };
  onSend((message, send) => {
    const isOne = isWaitingPull(message);
    if (isOne) pulls.count += 1;
    if (!isOne || !pulls.isLossy) send(message);
  });
  return pulls;
}

/** Pulls that wait at the server for each lane of the only pool. */
async function waitingAtServer({ broker, workers }: TestIngress): Promise<number[]> {
  const manager = await jetstreamManager(broker.nc, { checkAPI: false });
  const pool = [...workers.pools()][0]?.pool ?? '';
  const consumers = priorityClasses.map((name) => formatConsumerName({ pool, class: name }));
  const infos = consumers.map((consumer) => manager.consumers.info(broker.subjects.stream('gpu'), consumer));
  return (await Promise.all(infos)).map((info) => info.num_waiting);
}

describe.concurrent('a pull that waits', () => {
  it('is made again within seconds when the server never got it, and those of other lanes are left alone', async ({
    start,
  }) => {
    const { ingress, addWorker } = await start(options);
    const pulls = losePulls(ingress);
    await addWorker({ slots: 1 });
    await until(() => pulls.count === lanes);
    pulls.isLossy = true;
    await ingress.send({}).finished;
    await until(() => pulls.count === lanes + 1);
    pulls.isLossy = false;
    expect(await waitingAtServer(ingress)).toEqual([1, 0, 1]);
    const { state, queuedAt, claimedAt = Infinity } = await ingress.send({}).finished;
    expect(state).toBe('done');
    // Usually eight seconds. A pull that nobody makes again would last for half a minute.
    expect(claimedAt - queuedAt).toBeLessThan(15_000);
    await until(async () => (await waitingAtServer(ingress)).every((count) => count === 1));
  });

  it('is left alone while it waits, as the server says', async ({ start, expect }) => {
    const { ingress, addWorker } = await start(options);
    const pulls = losePulls(ingress);
    await addWorker({ slots: 1 });
    await until(() => pulls.count === lanes);
    await sleep(9_000);
    expect(pulls.count).toBe(lanes);
  });

  it('is left alone when everything stood still for a while', async ({ start, expect, onTestFinished }) => {
    const proxy = await startPausableProxy(Number(new URL(inject('natsUrl')).port));
    onTestFinished(() => proxy.close());
    const { ingress, addWorker } = await start({ ...options, natsUrl: `nats://127.0.0.1:${proxy.port}` });
    const pulls = losePulls(ingress);
    await addWorker({ slots: 1 });
    await until(() => pulls.count === lanes);
    proxy.pause();
    await sleep(9_000);
    proxy.resume();
    await sleep(1_500);
    expect(pulls.count).toBe(lanes);
    expect(await waitingAtServer(ingress)).toEqual([1, 1, 1]);
  });
});
