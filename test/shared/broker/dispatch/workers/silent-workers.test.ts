import { describe, it, type TestContext } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { startParties, type Parties } from '../../../../helpers/broker/broker-parties.ts';
import { until } from '../../../../helpers/until.ts';

async function start({ onTestFinished }: TestContext): Promise<Parties> {
  const parties = await startParties();
  onTestFinished(() => parties.close());
  return parties;
}

/** Lets nothing of a worker's heartbeats out any more. */
function dropHeartbeats(broker: Broker): void {
  const publish = broker.publish.bind(broker);
  broker.publish = (subject, payload, reply) => {
    if (!subject.startsWith(`${broker.subjects.prefix}.heartbeat.`)) publish(subject, payload, reply);
  };
}

/** The first heartbeat of a worker that never sends another one. */
function announcement(worker: string): string {
  const facts = { tier: 'gpu', pool: 'p', formats: ['chat'], models: [{ id: 'demo', capabilities: [] }] };
  const standing = { slots: 4, busy: 0, accepting: true, version: '0', startedAt: 0 };
  return JSON.stringify({ v: 1, worker, ...facts, ...standing });
}

describe.concurrent('a worker without heartbeats', { timeout: 20_000 }, () => {
  it('is alive as long as frames come from it, and its stream is complete', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    const { broker, id } = await addWorker();
    dropHeartbeats(broker);
    const sent = ingress.send({ steps: [{ count: 50, everyMs: 100 }] });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(sent.text().split('\n')).toHaveLength(51);
    await until(() => ingress.workers.get(id) === undefined);
  });

  it('gets no offers while its heartbeat is late', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    const { broker, id } = await addWorker();
    expect(ingress.workers.get(id)?.hasRefused).toBe(false);
    dropHeartbeats(broker);
    await until(() => ingress.workers.get(id)?.hasRefused === true, 2_500);
  });

  it('is removed together with all others that are silent, before the first one loses its jobs', async (context) => {
    const { expect } = context;
    const { ingress } = await start(context);
    const { broker, workers } = ingress;
    const known: number[] = [];
    workers.onLost(() => void known.push([...workers.workers()].length));
    for (const worker of ['one', 'two', 'three'])
      broker.publish(broker.subjects.heartbeat({ tier: 'gpu', owner: 'open', worker }), announcement(worker));
    await until(() => [...workers.workers()].length === 3);
    await until(() => known.length === 3);
    expect(known).toEqual([0, 0, 0]);
  });
});
