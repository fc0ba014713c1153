import { jetstreamManager } from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it, type TestContext } from 'vitest';
import { connectBroker, type Broker } from '#shared/broker/connection/connect-broker.ts';
import { formatConsumerName } from '#shared/broker/contract/subjects.ts';
import { startParties } from '../../helpers/broker/broker-parties.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { until } from '../../helpers/until.ts';
import { startNatsCluster } from '../../helpers/servers/start-nats-cluster.ts';

/** A cluster of three, an ingress and an idle worker that are connected to the same node of it. */
async function start({ expect, onTestFinished }: TestContext) {
  const nats = await startNatsCluster();
  onTestFinished(() => nats.stop());
  const watcher = await connectBroker({ url: nats.url, name: 'watcher', prefix: 'none', log: silentLog });
  onTestFinished(() => watcher.close());
  const manager = await jetstreamManager(watcher.nc, { checkAPI: false });
  // It answers once there is a leader.
  await until(async () => void (await manager.getAccountInfo()));
  const parties = await startParties({ natsUrl: nats.url });
  onTestFinished(() => parties.close());
  await parties.addWorker();
  expect((await parties.ingress.send({ steps: [{ write: 'x' }] }).finished).state).toBe('done');
  return { nats, manager, parties };
}

/** Has another node lead than the one that a party is connected to. */
async function lead(
  { expect }: TestContext,
  broker: Broker,
  leader: () => Promise<string | undefined>,
  stepDown: string,
): Promise<void> {
  const here = broker.nc.info?.server_name ?? '';
  if ((await leader()) === here) await broker.nc.request(stepDown);
  await until(async () => expect(await leader()).toMatch(new RegExp(`^(?!${here}$).+`)));
}

describe.concurrent('a cluster of three brokers', () => {
  it('of which one is killed gives an idle worker work within seconds, when it was the one that kept its lane', async (context) => {
    const { expect } = context;
    const { nats, manager, parties } = await start(context);
    const { broker, workers, send } = parties.ingress;
    const stream = broker.subjects.stream('gpu');
    const consumer = formatConsumerName({ pool: [...workers.pools()][0]?.pool ?? '', class: 'normal' });
    const leader = async () => (await manager.consumers.info(stream, consumer)).cluster?.leader;
    // No connection is to break: only by that would the worker notice at once.
    await lead(context, broker, leader, `$JS.API.CONSUMER.LEADER.STEPDOWN.${stream}.${consumer}`);
    await until(async () => (await manager.consumers.info(stream, consumer)).num_waiting > 0);
    nats.kill((await leader()) ?? '');
    const { state, queuedAt, endedAt } = await send({ steps: [{ write: 'x' }] }).finished;
    expect(state).toBe('done');
    // The others choose a leader within ten seconds or so, and a pull that is forgotten meanwhile is made again within eight.
    expect(endedAt - queuedAt).toBeLessThan(25_000);
  });

  it('of which one is killed serves jobs that wait while it has no leader, as soon as slots are free', async (context) => {
    const { expect } = context;
    const { nats, manager, parties } = await start(context);
    const { broker, send } = parties.ingress;
    await parties.addWorker({ slots: 4 });
    const stream = broker.subjects.stream('gpu');
    const leader = async () => (await manager.streams.info(stream)).cluster?.leader;
    await lead(context, broker, leader, `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`);
    const jobs = Array.from({ length: 30 }, () => send({ steps: [{ write: 'x' }, { waitMs: 200 }] }));
    nats.kill((await leader()) ?? '');
    const reports = await Promise.all(jobs.map(({ finished }) => finished));
    expect(reports.filter(({ state }) => state !== 'done')).toEqual([]);
    const longest = Math.max(...reports.map(({ queuedAt, endedAt }) => endedAt - queuedAt));
    // A second until the lane counts as standing still, and ten rounds of three slots; without that, they wait for a leader.
    expect(longest).toBeLessThan(8_000);
  });

  it('of which one is killed finishes a stream, when it was the one that everybody was connected to', async (context) => {
    const { expect } = context;
    const { nats, parties } = await start(context);
    const { broker, send } = parties.ingress;
    const words = Array.from({ length: 40 }, (_, at) => `${at} `);
    const sent = send({ steps: words.flatMap((write) => [{ write }, { waitMs: 50 }]) });
    await until(() => sent.text().length > 20);
    nats.kill(broker.nc.info?.server_name ?? '');
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(sent.text()).toBe(words.join(''));
  });

  it('of which two are killed has its requests served, tools too, by a worker that is started meanwhile', async (context) => {
    const { expect } = context;
    const { nats, parties } = await start(context);
    const { broker, workers, send } = parties.ingress;
    for (const name of Object.keys(nats.ports)) if (name !== broker.nc.info?.server_name) nats.kill(name);
    const { id } = await parties.addWorker({ models: [{ id: 'other', capabilities: ['stream'] }] });
    const pool = workers.get(id)?.pool;
    if (!pool) throw new Error('a worker is not known');
    const place = () => [{ pool, model: 'other' }];
    const jobs = [
      send({ findPlacements: place, steps: [{ write: 'x' }] }),
      send({ findPlacements: place, operation: 'execute_tool', stream: false, steps: [{ write: 'x' }] }),
      send({ operation: 'execute_tool', stream: false, steps: [{ write: 'x' }] }),
    ];
    for (const { finished } of jobs) {
      const { state, queuedAt, claimedAt = Infinity } = await finished;
      expect(state).toBe('done');
      // Usually three seconds. A job that waits for its ticket would wait for ever.
      expect(claimedAt - queuedAt).toBeLessThan(10_000);
    }
  });

  it('of which two are not there yet lets an ingress start as soon as one of them is', async (context) => {
    const { expect, onTestFinished } = context;
    const nats = await startNatsCluster();
    onTestFinished(() => nats.stop());
    nats.kill('two');
    nats.kill('three');
    const starting = startParties({ natsUrl: nats.url });
    // Longer than JetStream has for one answer.
    await sleep(6_000);
    await nats.restart('two');
    const parties = await starting;
    onTestFinished(() => parties.close());
    await parties.addWorker();
    expect((await parties.ingress.send({ steps: [{ write: 'x' }] }).finished).state).toBe('done');
  });
});
