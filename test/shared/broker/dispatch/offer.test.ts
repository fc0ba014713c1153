import { jetstreamManager } from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, type TestContext } from 'vitest';
import {
  startParties,
  untilOffersAreTaken,
  type Parties,
  type PartyOptions,
  type TestIngress,
  type TestJob,
} from '../../../helpers/broker-parties.ts';
import { until } from '../../../helpers/start-cluster.ts';

async function start({ onTestFinished }: TestContext, options: PartyOptions = {}): Promise<Parties> {
  const parties = await startParties(options);
  onTestFinished(() => parties.close());
  return parties;
}

/** Tickets that the broker has taken so far. */
async function ticketsAt({ broker }: TestIngress): Promise<number> {
  const manager = await jetstreamManager(broker.nc);
  return (await manager.streams.info(broker.subjects.stream('gpu'))).state.last_seq;
}

const hang = { steps: [{ hang: true as const }] };
const whoami = { steps: [{ whoami: true as const }] };

describe.concurrent('a job that is offered', () => {
  it('reaches a worker that waits without a ticket, the one with the most free slots', async (context) => {
    const { ingress, addWorker } = await start(context);
    await addWorker({ id: 'small', slots: 1 });
    await addWorker({ id: 'large', slots: 4 });
    await untilOffersAreTaken(ingress);
    const before = await ticketsAt(ingress);
    const jobs = Array.from({ length: 3 }, () => ingress.send({ steps: [{ waitMs: 50 }, { whoami: true }] }));
    for (const { finished, job, text } of jobs) {
      expect(await finished).toMatchObject({ state: 'done', attempts: 1, moves: [] });
      expect([text(), job.tickets]).toEqual(['large', 0]);
    }
    expect(await ticketsAt(ingress)).toBe(before);
  });

  it('is refused by a worker that another ingress has filled, and waits for its turn', async (context) => {
    const { ingress, addIngress, addWorker } = await start(context);
    const other = await addIngress();
    await addWorker({ id: 'one', slots: 1 });
    await until(() => other.workers.get('one') !== undefined);
    await untilOffersAreTaken(ingress);
    const first = ingress.send(hang);
    const second = other.send(whoami);
    expect(second.job.state).toBe('claimed');
    await until(() => second.job.state === 'queued');
    expect(second.job.tickets).toBe(1);
    expect(second.job.attempt).toBe(0);
    expect(other.workers.get('one')?.held.size).toBe(0);
    first.cancel();
    expect(await second.finished).toMatchObject({ state: 'done', attempts: 1, moves: [] });
  });

  it('goes to another worker at once when the one that it was offered to was killed', async (context) => {
    const { ingress, forkWorker } = await start(context);
    const dead = await forkWorker({ WORKER_ID: 'dead', SLOTS: '64' });
    await forkWorker({ WORKER_ID: 'living', SLOTS: '8' });
    await untilOffersAreTaken(ingress);
    await dead.process.kill();
    expect(ingress.workers.get('dead')).toBeDefined();
    const jobs = Array.from({ length: 8 }, () => ingress.send(whoami));
    expect(jobs.map(({ job }) => job.served?.worker.id)).toContain('dead');
    for (const { finished, text } of jobs) {
      const { state, attempts, queuedAt, endedAt } = await finished;
      expect([state, attempts, text()]).toEqual(['done', 1, 'living']);
      expect(endedAt - queuedAt).toBeLessThan(500);
    }
  });

  it('never comes before those that wait', async (context) => {
    const { ingress, addWorker } = await start(context);
    await addWorker({ slots: 1 });
    await untilOffersAreTaken(ingress);
    const ended: number[] = [];
    const jobs: TestJob[] = [];
    const send = (number: number): void => {
      const sent = ingress.send({ steps: [{ waitMs: 5 }] });
      void sent.finished.then(() => ended.push(number));
      jobs.push(sent);
    };
    const running = ingress.send(hang);
    for (const number of [1, 2, 3]) send(number);
    expect(jobs.map(({ job }) => job.state)).toEqual(['queued', 'queued', 'queued']);
    await until(() => jobs.every(({ job }) => job.admitted));
    running.cancel();
    // The slot becomes free again and again while they have their turns, and each time somebody else would like it.
    for (let number = 4; ended.length < 3; number += 1) {
      send(number);
      await sleep(2);
    }
    await Promise.all(jobs.map(({ finished }) => finished));
    expect(ended.slice(0, 3)).toEqual([1, 2, 3]);
  });

  it('goes by ticket when its body is larger than one part', async (context) => {
    const { ingress, addWorker } = await start(context);
    await addWorker();
    await untilOffersAreTaken(ingress);
    const body = Buffer.from(JSON.stringify({ steps: [{ digest: true }], filler: 'x'.repeat(512 * 1024) }));
    const { job, finished } = ingress.send({ body });
    expect(job.state).toBe('queued');
    expect((await finished).state).toBe('done');
  });

  it('goes to a worker that is left when the first one fails', async (context) => {
    const { ingress, addWorker } = await start(context);
    await addWorker({ id: 'bad', slots: 8 });
    await addWorker({ id: 'good', slots: 1 });
    await untilOffersAreTaken(ingress);
    const { finished, job, text } = ingress.send({
      steps: [{ only: 'bad', fail: 'upstream_failed' }, { whoami: true }],
    });
    expect(await finished).toMatchObject({ state: 'done', attempts: 2, moves: ['upstream_failed'] });
    expect([text(), job.tickets]).toEqual(['good', 0]);
  });
});

describe.concurrent('a worker', () => {
  it('refuses what is no offer, and one in a version that it does not speak', async (context) => {
    const { ingress, addWorker, prefix } = await start(context);
    const { id, worker } = await addWorker();
    await untilOffersAreTaken(ingress);
    const { broker } = ingress;
    const at = ingress.workers.get(id)?.announcement.offersAt ?? '';
    const grant = { answer: 'grant', job: 'j', requestId: 'r', operation: 'generate', family: 'chat', stream: true };
    const reply = `${prefix}.reply.nobody.grant`;
    const whole = JSON.stringify({ ...grant, v: 99, model: 'demo', reply, bodyBytes: 0 });
    const cut = JSON.stringify({ ...grant, v: 1, model: 'demo', reply, bodyBytes: 10 });
    for (const payload of ['', 'rubbish', '{"answer":"gone"}\n', `${whole}\n`, `${cut}\nfive.`]) {
      const answerTo = `${reply}.r.0`;
      const refusal = broker.nc.request(at, payload, { timeout: 1_000, noMux: true, reply: answerTo });
      expect((await refusal).data).toHaveLength(0);
    }
    expect(worker.busy).toBe(0);
    expect((await ingress.send(whoami).finished).state).toBe('done');
  });

  it('that wants its offers in the inbox of another one is not believed', async (context) => {
    const { ingress, addWorker, prefix } = await start(context);
    const { id } = await addWorker();
    const before = ingress.workers.get(id)?.announcement;
    const told = { ...before, slots: 99, offersAt: `${prefix}.inbox.gpu.open.another.x.offer` };
    ingress.broker.publish(`${prefix}.beat.gpu.open.${id}`, JSON.stringify(told));
    await ingress.broker.flush();
    expect(ingress.workers.get(id)?.announcement).toMatchObject({ slots: before?.slots, offersAt: before?.offersAt });
  });
});
