import { describe, expect } from 'vitest';
import { ProofOfLife } from '#shared/broker/dispatch/workers/proof-of-life.ts';
import { announcementOf } from '../../../../helpers/broker/announcement.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import type { TappedBroker } from '../../../../helpers/broker/tapped-broker.ts';
import { until } from '../../../../helpers/until.ts';

/** Lets nothing of a worker's heartbeats out any more. */
function dropHeartbeats({ broker, onSend }: TappedBroker): void {
  onSend((message, send) => {
    if (!message.subject.startsWith(`${broker.subjects.prefix}.heartbeat.`)) send(message);
  });
}

describe.concurrent('a worker without heartbeats', () => {
  it('is alive as long as frames come from it, and its stream is complete', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const worker = await addWorker();
    dropHeartbeats(worker);
    const sent = ingress.send({ steps: [{ count: 40, everyMs: 100 }] });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(sent.text().split('\n')).toHaveLength(41);
    await until(() => ingress.workers.get(worker.id) === undefined);
  });

  it('gets no offers while its heartbeat is late', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const worker = await addWorker();
    expect(ingress.workers.get(worker.id)?.hasRefused).toBe(false);
    dropHeartbeats(worker);
    await until(() => ingress.workers.get(worker.id)?.hasRefused === true, 2_500);
  });

  it('is removed with all others that are silent, before the first one loses its jobs', async ({ start, expect }) => {
    const { ingress } = await start();
    const { broker, workers } = ingress;
    const known: number[] = [];
    workers.onLost(() => void known.push([...workers.workers()].length));
    for (const worker of ['one', 'two', 'three'])
      broker.publish(
        broker.subjects.heartbeat({ tier: 'gpu', owner: 'open', worker }),
        JSON.stringify(announcementOf({ worker })),
      );
    await until(() => [...workers.workers()].length === 3);
    await until(() => known.length === 3);
    expect(known).toEqual([0, 0, 0]);
  });
});

it('a worker lived when a heartbeat came that another one followed at its time', () => {
  const life = new ProofOfLife();
  life.onHeartbeat(1_000);
  expect(life.provenAt).toBe(Number.NEGATIVE_INFINITY);
  life.onHeartbeat(2_000);
  expect(life.provenAt).toBe(1_000);
  // Heartbeats that a change causes follow each other closely.
  for (let at = 2_010; at < 3_000; at += 10) life.onHeartbeat(at);
  expect(life.provenAt).toBe(2_000);
});

it('heartbeats that a server delivers late, all at once, show nothing', () => {
  const life = new ProofOfLife();
  life.onHeartbeat(1_000);
  life.onHeartbeat(2_000);
  for (const at of [6_000, 6_001, 6_002]) life.onHeartbeat(at);
  expect(life.provenAt).toBe(2_000);
});
