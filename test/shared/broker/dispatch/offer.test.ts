import { RequestError } from '@nats-io/transport-node';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import {
  openTicketStream,
  untilOffersAreTaken,
  type Parties,
  type TestIngress,
  type TestJob,
} from '../../../helpers/broker/broker-parties.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { jobDone } from '../../../helpers/broker/job-done.ts';
import { least } from '../../../helpers/least.ts';
import { until } from '../../../helpers/until.ts';

/** Tickets that the broker has taken so far. */
const ticketsAt = async (ingress: TestIngress) => (await (await openTicketStream(ingress)).state()).last_seq;

/** Waits until the server has noticed that a worker's connection has ended. */
async function isGoneAtServer({ broker, workers }: TestIngress, worker: string): Promise<void> {
  const subject = broker.subjects.cancel(made(workers.get(worker)).address);
  await until(async () => {
    const answer: unknown = await broker.nc.request(subject, '', { timeout: 100 }).catch((error: unknown) => error);
    return answer instanceof RequestError && answer.isNoResponders();
  });
}

/** Has a heartbeat of a worker come to an ingress that says that it has nothing to do, as the last one before it was filled. */
async function seemIdle({ broker, workers }: TestIngress, id: string): Promise<void> {
  const worker = made(workers.get(id));
  const { announcement, address } = worker;
  broker.publish(broker.subjects.heartbeat(address), JSON.stringify({ ...announcement, busy: 0 }));
  await until(() => worker.otherJobs === 0 && worker.getsOffers);
}

const hang = { steps: [{ write: 'x' }, { hang: true as const }] };
/** A worker that an ingress has filled, which `other` believes to be idle. */
async function fillOne({ ingress, addIngress, addWaiting }: Parties) {
  const other = await addIngress();
  const [one] = await addWaiting({ id: 'one', slots: 2 });
  await until(() => other.workers.get('one') !== undefined);
  const first = [ingress.send(hang), ingress.send(hang)];
  await until(() => one?.worker.busy === 2);
  await seemIdle(other, 'one');
  return { first, other };
}

const largeBody = Buffer.from(JSON.stringify({ steps: [{ digest: true }], filler: 'x'.repeat(512 * 1024) }));
const whoami = { steps: [{ whoami: true as const }] };

describe.concurrent('a job that is offered', () => {
  it('reaches a worker that waits without a ticket, the one with the most free slots', async ({ start, expect }) => {
    const { ingress, addWaiting } = await start();
    const before = await ticketsAt(ingress);
    await addWaiting({ id: 'small', slots: 2 }, { id: 'large', slots: 5 });
    const jobs = Array.from({ length: 3 }, () => ingress.send({ steps: [{ waitMs: 50 }, { whoami: true }] }));
    for (const { finished, job } of jobs) {
      expect(await finished).toMatchObject({ state: 'done', attempts: 1, moves: [], text: 'large' });
      expect(job.tickets.count).toBe(0);
    }
    expect(await ticketsAt(ingress)).toBe(before);
  });

  it("reaches the worker's handler with the mark of its owner", async ({ ingress, addWorker, expect }) => {
    const marks: (string | undefined)[] = [];
    const handler: JobHandler = async ({ ownerMark }) => {
      marks.push(ownerMark);
      return jobDone;
    };
    await addWorker({ handler });
    await ingress.send({ ownerMark: 'an owner' }).finished;
    await ingress.send({}).finished;
    expect(marks).toEqual(['an owner', undefined]);
  });

  it('is refused by a worker that another ingress has filled, and waits for its turn', async ({ start, expect }) => {
    const { first, other } = await fillOne(await start());
    const second = other.send(whoami);
    expect(second.job.state).toBe('claimed');
    await until(() => second.job.state === 'queued');
    expect(second.job.tickets.count).toBe(1);
    expect(second.job.attempts).toBe(0);
    expect(other.workers.get('one')?.ownJobs).toBe(0);
    for (const { cancel } of first) cancel();
    expect(await second.finished).toMatchObject({ state: 'done', attempts: 1, moves: [] });
  });

  it('goes to another worker at once when the one that it was offered to was killed', async ({ start, expect }) => {
    const move = async (): Promise<number> => {
      const { ingress, addWaiting, forkWorker } = await start();
      const dead = await forkWorker({ WORKER_ID: 'dead', SLOTS: '64' });
      await addWaiting({ id: 'living' });
      await dead.process.kill();
      await isGoneAtServer(ingress, 'dead');
      // On a busy machine, its next heartbeat is late by now, and it would get no offers.
      await seemIdle(ingress, 'dead');
      expect(ingress.workers.get('dead')).toBeDefined();
      const jobs = Array.from({ length: 8 }, () => ingress.send(whoami));
      expect(jobs.map(({ job }) => job.attempt?.worker.id)).toContain('dead');
      const reports = await Promise.all(jobs.map(({ finished }) => finished));
      for (const report of reports) expect(report).toMatchObject({ state: 'done', attempts: 1, text: 'living' });
      return Math.max(...reports.map(({ queuedAt, endedAt }) => endedAt - queuedAt));
    };
    expect(await least(move, 500, 4)).toBeLessThan(500);
  });

  it('never comes before those that wait', async ({ ingress, addWaiting, expect }) => {
    const [only] = await addWaiting({ slots: 4 });
    const running = Array.from({ length: 4 }, () => ingress.send(hang));
    await until(() => only?.worker.busy === 4);
    const send = (): TestJob => ingress.send({ steps: [{ waitMs: 5 }] });
    const waiting = Array.from({ length: 12 }, send);
    await until(() => waiting.every(({ job }) => job.tickets.isAdmitted));
    for (const { cancel } of running) cancel();
    // Slots become free again and again while they have their turns, and each time somebody else would like one.
    const later: TestJob[] = [];
    while (waiting.some(({ job }) => !job.isOver)) {
      later.push(send());
      await sleep(2);
    }
    const claimedAt = async (jobs: TestJob[]): Promise<number[]> =>
      (await Promise.all(jobs.map(({ finished }) => finished))).map((report) => report.claimedAt ?? Number.NaN);
    expect(Math.max(...(await claimedAt(waiting)))).toBeLessThan(Math.min(...(await claimedAt(later))));
  });

  it('does not keep the job of another ingress waiting', async ({ ingress, addIngress, addWorker, expect }) => {
    const busy = await addIngress();
    for (let number = 0; number < 8; number += 1) await addWorker({ slots: 4 });
    await until(() => busy.workers.size === 8);
    await untilOffersAreTaken(busy);
    const running = Array.from({ length: 32 }, () => busy.send(hang));
    await until(() => running.every(({ job }) => job.attempt?.hasSentFrame));
    const waiting = ingress.send(whoami);
    await until(() => waiting.job.tickets.isAdmitted && waiting.job.state === 'queued');
    let others = 0;
    const goOn = async (): Promise<void> => {
      while (!waiting.job.isOver) {
        await busy.send({ steps: [{ waitMs: 5 }] }).finished;
        others += 1;
      }
    };
    running[0]?.cancel();
    running[1]?.cancel();
    await Promise.all([goOn(), goOn()]);
    expect((await waiting.finished).state).toBe('done');
    expect(others).toBeLessThanOrEqual(8);
  });

  it('goes to another worker when the one that it was offered to stands still', async ({ start, expect }) => {
    const measure = async (): Promise<number> => {
      const { ingress, addWaiting } = await start();
      const [still] = await addWaiting({ id: 'still', slots: 16 }, { id: 'living' });
      const goOn = still?.freeze();
      const jobs = Array.from({ length: 6 }, () => ingress.send(whoami));
      expect(jobs.filter(({ job }) => job.attempt?.worker.id === 'still').length).toBeGreaterThan(0);
      const reports = await Promise.all(jobs.map(({ finished }) => finished));
      goOn?.();
      for (const report of reports) expect(report).toMatchObject({ state: 'done', attempts: 1, text: 'living' });
      return Math.max(...reports.map(({ endedAt, queuedAt }) => endedAt - queuedAt));
    };
    expect(await least(measure, 3_000)).toBeLessThan(3_000);
  });

  it('is no tool: one that was offered without any answer may have done its work', async ({ start, expect }) => {
    const { ingress, addWaiting } = await start();
    await addWaiting({});
    const { job, finished } = ingress.send({ ...whoami, operation: 'execute_tool', format: 'tools' });
    expect(job.state).toBe('queued');
    expect((await finished).state).toBe('done');
  });

  it('that was begun cannot be refused any more, nor can one that was claimed', async ({ start, expect }) => {
    // Large enough that it does not wait for the answer's end.
    const first = 'a'.repeat(512 * 1024);
    for (const offers of [true, false]) {
      const { ingress, addWaiting } = await start({ ingress: { offers } });
      const [worker] = await addWaiting({});
      let refusals = 0;
      worker?.onSend((message, send) => {
        send(message);
        if (!message.subject.endsWith('.d._') || message.reply !== '0') return;
        for (const number of [0, 1]) send({ subject: message.subject.replace(/d\._$/, `r.${number}`), payload: '' });
        refusals += 2;
      });
      const sent = ingress.send({ stream: false, steps: [{ write: first }, { waitMs: 50 }, { write: 'b' }] });
      expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1, moves: [] });
      expect(sent.text() === `${first}b`).toBe(true);
      expect(refusals).toBe(2);
    }
  });

  it('is shared out among like workers, also by ingresses that do not know each other', async ({ start, expect }) => {
    const { ingress, addIngress, addWaiting } = await start();
    const edges = [ingress, ...(await Promise.all(Array.from({ length: 7 }, () => addIngress())))];
    const workers = await addWaiting({}, {}, {}, {});
    await until(() => edges.every((edge) => edge.workers.size === 4));
    const most: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const jobs = edges.map((edge) => edge.send(hang));
      await until(() => jobs.every(({ job }) => job.attempt?.hasSentFrame));
      most.push(Math.max(...workers.map(({ worker }) => worker.busy)));
      for (const { cancel } of jobs) cancel();
      await until(() => workers.every(({ worker }) => worker.busy === 0));
    }
    // Eight at once for one of four in every round would be what all choosing the same one looks like.
    expect(most.reduce((sum, busy) => sum + busy, 0) / most.length).toBeLessThan(6);
  });

  it('is claimed without a ticket in the queue when its body is larger than one part', async ({ start, expect }) => {
    const { ingress, addWaiting } = await start();
    await addWaiting({});
    // One that a busy machine has claimed too late gets a ticket all the same.
    const tickets: number[][] = [];
    while (tickets.length < 6 && tickets.at(-1)?.join() !== '0,0') {
      const before = await ticketsAt(ingress);
      const { job, finished } = ingress.send({ body: largeBody });
      expect(job.state).toBe('queued');
      const text = createHash('sha256').update(largeBody).digest('hex');
      expect(await finished).toMatchObject({ state: 'done', attempts: 1, text });
      tickets.push([job.tickets.count, (await ticketsAt(ingress)) - before]);
    }
    expect(tickets.at(-1)).toEqual([0, 0]);
  });

  it('gets a ticket when its body is large and the worker does not claim it', async ({ start, expect }) => {
    const { first, other } = await fillOne(await start());
    const second = other.send({ body: largeBody });
    expect(second.job.tickets.count).toBe(0);
    await until(() => second.job.tickets.count === 1);
    for (const { cancel } of first) cancel();
    expect(await second.finished).toMatchObject({ state: 'done', attempts: 1, moves: [] });
  });

  it('goes to a worker that is left when the first one fails', async ({ ingress, addWaiting, expect }) => {
    await addWaiting({ id: 'bad', slots: 8 }, { id: 'good', slots: 2 });
    const { finished, job } = ingress.send({ steps: [{ only: 'bad', fail: 'upstream_failed' }, { whoami: true }] });
    expect(await finished).toMatchObject({ state: 'done', attempts: 2, moves: ['upstream_failed'], text: 'good' });
    expect(job.tickets.count).toBe(0);
  });
});

describe.concurrent('a worker', () => {
  it('refuses what is no offer, and one in a version that it does not speak', async ({ start, expect }) => {
    const { ingress, addWaiting, prefix } = await start();
    const [one] = await addWaiting({ id: 'one' });
    const { broker } = ingress;
    const at = ingress.workers.get('one')?.announcement.offersAt ?? '';
    const grant = { answer: 'grant', job: 'j', requestId: 'r', operation: 'generate', format: 'chat', stream: true };
    const reply = `${prefix}.reply.nobody.grant`;
    const whole = JSON.stringify({ ...grant, v: 99, model: 'demo', reply, bodyBytes: 0 });
    const cut = JSON.stringify({ ...grant, v: 1, model: 'demo', reply, bodyBytes: 10 });
    for (const payload of ['', 'rubbish', '{"answer":"gone"}\n', `${whole}\n`, `${cut}\nfive.`]) {
      const answerTo = `${reply}.r.0`;
      const refusal = broker.nc.request(at, payload, { timeout: 20_000, noMux: true, reply: answerTo });
      expect((await refusal).data).toHaveLength(0);
    }
    expect(one?.worker.busy).toBe(0);
    expect((await ingress.send(whoami).finished).state).toBe('done');
  });

  it.for(['another.x.offer', 'w x', '>', 7])('that wants its offers at %j gets none', async (at, { start, expect }) => {
    const { ingress, addWorker, prefix } = await start();
    const { id } = await addWorker();
    const { announcement: before, address } = made(ingress.workers.get(id));
    const { subjects } = ingress.broker;
    expect(before.offersAt?.startsWith(`${subjects.inbox(address)}.`)).toBe(true);
    const offersAt = typeof at === 'string' ? `${prefix}.inbox.gpu.open.${at}` : at;
    ingress.broker.publish(subjects.heartbeat(address), JSON.stringify({ ...before, slots: 99, offersAt }));
    await until(() => ingress.workers.get(id)?.announcement.slots === 99);
    expect(ingress.workers.get(id)?.announcement.offersAt).toBeUndefined();
  });

  it('refuses what was offered to the pool that it has left', async ({ ingress, addWaiting, expect }) => {
    const [one] = await addWaiting({ id: 'one' });
    const { announcement: before, address } = made(ingress.workers.get('one'));
    one?.worker.update({ models: [{ id: 'other', capabilities: ['stream'] }] });
    await until(() => ingress.workers.get('one')?.announcement.models[0]?.id === 'other');
    await untilOffersAreTaken(ingress);
    const now = made(ingress.workers.get('one'));
    const stale = { ...now.announcement, offersAt: before.offersAt, slots: 99 };
    ingress.broker.publish(ingress.broker.subjects.heartbeat(address), JSON.stringify(stale));
    await until(() => now.announcement.slots === 99);
    const { job, finished } = ingress.send(whoami);
    expect(job.state).toBe('claimed');
    expect((await finished).state).toBe('done');
    expect(job.tickets.count).toBe(1);
  });
});
