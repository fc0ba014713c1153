import { nanos } from '@nats-io/transport-node';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { decodeClaimAnswer } from '#shared/broker/contract/claim.ts';
import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { ensurePoolConsumers } from '#shared/broker/dispatch/queue/jobs-stream.ts';
import { formatConsumerName } from '#shared/broker/contract/subjects.ts';
import { decodeTicket } from '#shared/broker/contract/ticket.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { openTicketStream, type Parties, type TestIngress } from '../../../../helpers/broker/broker-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { jobDone } from '../../../../helpers/broker/job-done.ts';
import { until } from '../../../../helpers/until.ts';

const poolOf = ({ workers }: TestIngress, id: string): LivePool => made(workers.get(id)).pool;

/** Chooses the pools that are present now, even if they take no jobs. */
function anywhere({ workers }: TestIngress): () => Placement[] {
  const placements = Array.from(workers.pools(), (pool) => ({ pool, model: 'demo' }));
  return () => placements;
}

describe.concurrent('the queue', () => {
  it('drains high first, and still gives normal and low their share', async ({ ingress, addWorker, expect }) => {
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    await addWorker({
      slots: 1,
      handler: async ({ requestId }) => {
        await gate.promise;
        order.push(requestId);
        return jobDone;
      },
    });
    const first = ingress.send({ requestId: 'first' });
    await until(() => first.job.state === 'claimed');
    const jobs = Array.from({ length: 36 }, (_, at) => {
      const name = priorityClasses[2 - (at % 3)] ?? 'normal';
      return ingress.send({ class: name, requestId: name });
    });
    // All tickets are in the stream before the worker takes one.
    await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
    gate.resolve();
    await Promise.all(jobs.map(({ finished }) => finished));
    const lastOf = (name: string): number => order.lastIndexOf(name);
    expect(lastOf('high')).toBeLessThan(lastOf('normal'));
    expect(lastOf('normal')).toBeLessThan(lastOf('low'));
    const whileHigh = order.slice(0, lastOf('high'));
    expect(whileHigh.filter((name) => name === 'high').length / whileHigh.length).toBeGreaterThan(0.6);
    expect(whileHigh).toContain('normal');
    expect(order.slice(0, lastOf('normal'))).toContain('low');
  });

  it('never gives a worker more jobs than it has slots', async ({ ingress, addWorker, expect }) => {
    let running = 0;
    let most = 0;
    const { worker } = await addWorker({
      slots: 3,
      handler: async () => {
        running += 1;
        most = Math.max(most, running, worker.busy);
        await sleep(2);
        running -= 1;
        return jobDone;
      },
    });
    const jobs = Array.from({ length: 200 }, (_, at) => ingress.send({ class: priorityClasses[at % 3] ?? 'normal' }));
    const reports = await Promise.all(jobs.map(({ finished }) => finished));
    expect(reports.every(({ state, attempts }) => state === 'done' && attempts === 1)).toBe(true);
    expect(most).toBe(3);
  });

  it('has places left for other keys if one key fills it', async ({ start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: { queue: { maxQueued: 20, maxAgeMs: 60_000 } } });
    await addWorker({ accepting: false });
    const place = anywhere(ingress);
    const send = (key: string) => ingress.send({ findPlacements: place, sender: { owner: key, key } });
    const loud = Array.from({ length: 20 }, () => send('loud'));
    expect(loud.filter(({ job }) => job.state === 'queued')).toHaveLength(10);
    const quiet = Array.from({ length: 6 }, () => send('quiet'));
    expect(quiet.filter(({ job }) => job.state === 'queued')).toHaveLength(5);
    for (const { cancel } of [...loud, ...quiet]) cancel();
    expect(send('loud').job.state).toBe('queued');
  });

  it('has room for the next job after more jobs were cancelled than may wait', async ({ start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: { queue: { maxQueued: 20, maxAgeMs: 60_000 } } });
    const { worker } = await addWorker({ slots: 1, accepting: false });
    const place = anywhere(ingress);
    for (let round = 0; round < 6; round += 1) {
      const jobs = Array.from({ length: 8 }, () => ingress.send({ findPlacements: place }));
      await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
      for (const { cancel } of jobs) cancel();
    }
    const jobs = Array.from({ length: 8 }, () => ingress.send({ findPlacements: place, steps: [{ write: 'x' }] }));
    await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
    worker.update({ accepting: true });
    for (const { finished } of jobs) expect((await finished).state).toBe('done');
  });

  it.for([
    ['there is no worker', false],
    ['the only worker stops taking jobs', true],
  ] as const)('fails a job after its timeout if %s', async ([, hasWorker], { start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: { timeouts: { noWorkerMs: 300 } } });
    const worker = hasWorker ? await addWorker({ slots: 0 }) : undefined;
    const { finished } = ingress.send({});
    worker?.worker.update({ accepting: false });
    const { error, queuedAt, endedAt } = await finished;
    expect(error?.code).toBe('no_worker_available');
    expect(endedAt - queuedAt).toBeGreaterThan(299);
    // The default is 15 seconds.
    expect(endedAt - queuedAt).toBeLessThan(10_000);
  });

  it('waits for a worker that comes in time', async ({ ingress, addWorker, expect }) => {
    const { finished } = ingress.send({});
    await addWorker();
    expect(await finished).toMatchObject({ state: 'done', attempts: 1 });
  });

  it('moves waiting jobs along if a worker changes its models and thereby its pool', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const { worker, id } = await addWorker({ slots: 0 });
    const before = poolOf(ingress, id);
    const jobs = Array.from({ length: 5 }, () => ingress.send({ steps: [{ write: 'x' }] }));
    await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
    worker.update({ slots: 2, models: [{ id: 'other', capabilities: [] }] });
    for (const { finished } of jobs)
      expect(await finished).toMatchObject({ state: 'done', attempt: { placement: { model: 'other' } } });
    expect(before.waiting).toBe(0);
    expect(poolOf(ingress, id).waiting).toBe(0);
  });

  it('lets a job overflow into the next lane if the first lane does not take it in time', async ({ start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: { overflowMs: 100 } });
    const busy = await addWorker({ id: 'busy', kind: 'a', slots: 1 });
    await addWorker({ id: 'free', kind: 'b', slots: 1 });
    const pools = [poolOf(ingress, 'busy'), poolOf(ingress, 'free')];
    const place = () => pools.map((pool) => ({ pool, model: 'demo' }));
    // Its announcement still reports a free slot.
    busy.worker.drain(0).catch(() => undefined);
    const report = await ingress.send({ findPlacements: place }).finished;
    expect(report.attempt?.worker.announcement.worker).toBe('free');
  });

  it('forgets no job when somebody deletes its stream', async ({ ingress, addWorker, expect }) => {
    const { worker } = await addWorker({ slots: 0 });
    const jobs = Array.from({ length: 5 }, () => ingress.send({ steps: [{ write: 'x' }] }));
    await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
    await (await openTicketStream(ingress)).delete();
    worker.update({ slots: 2 });
    for (const { finished } of jobs) expect((await finished).state).toBe('done');
  });
});

describe.concurrent('a claim', () => {
  /** A job, and its ticket that the worker `one` without slots has taken and not answered. */
  async function takeTicket({ ingress, addWorker }: Parties, steps: Step[] = []) {
    await addWorker({ id: 'one', slots: 0 });
    const sent = ingress.send({ steps });
    const { broker } = ingress;
    const lane = { ...poolOf(ingress, 'one'), class: 'normal' as const };
    await ensurePoolConsumers(broker, lane.tier, lane.pool);
    const next = `$JS.API.CONSUMER.MSG.NEXT.${broker.subjects.stream(lane.tier)}.${formatConsumerName(lane)}`;
    const pull = JSON.stringify({ batch: 1, expires: nanos(25_000) });
    const { data } = await broker.nc.request(next, pull, { timeout: 25_000, noMux: true });
    const ticket = made(decodeTicket(data));
    return { sent, claim: (worker: string, how?: ClaimFacts) => claim(ingress, ticket, worker, how) };
  }

  interface ClaimFacts {
    /** The worker whose inbox gets the answer. */
    inboxOf?: string;
    /** The token of the claiming process there. Default: the announced one. */
    process?: string;
    v?: number;
  }

  /** @returns the answer, or `none` if there is none within a second */
  async function claim(
    { broker, workers }: TestIngress,
    ticket: { job: string; ingress: string },
    worker: string,
    { inboxOf = worker, process, v = 1 }: ClaimFacts = {},
  ): Promise<string> {
    const addressOf = (name: string) => {
      const announced = workers.get(name)?.address.process;
      return { tier: 'gpu', credentialName: 'open', worker: name, process: process ?? announced ?? 'any' } as const;
    };
    const subject = broker.subjects.claim(ticket.ingress, addressOf(worker));
    const answers: string[] = [];
    const reply = `${broker.subjects.inbox(addressOf(inboxOf))}.claim.${randomUUID()}`;
    broker.subscribe(reply, ({ data }) => void answers.push(decodeClaimAnswer(data)?.answer.answer ?? 'unreadable'));
    broker.publish(subject, JSON.stringify({ v, job: ticket.job, ticket: '' }), reply);
    // The answers of this ingress arrive before the answer to the second flush.
    for (let round = 0; round < 2; round += 1) await broker.flush();
    return answers[0] ?? 'none';
  }

  it.for<[string, string, string, ClaimFacts]>([
    ['in a version of the contract that is not spoken with its worker is put off', 'later', 'one', { v: 2 }],
    ['is not answered at the inbox of another worker', 'none', 'one', { inboxOf: 'two' }],
    ['of a worker that this ingress does not know is put off', 'later', 'stranger', {}],
    // It may have replaced that process.
    ['of another process than the announced one is put off', 'later', 'one', { process: randomUUID() }],
  ])('%s', async ([, answer, worker, how], { start, expect }) => {
    const { sent, claim } = await takeTicket(await start());
    expect(await claim(worker, how)).toBe(answer);
    expect(sent.job.state).toBe('queued');
    // It is granted once.
    expect([await claim('one'), await claim('one')]).toEqual(['grant', 'taken']);
    sent.cancel();
    expect(await claim('one')).toBe('gone');
  });

  it('that is never made lets the ticket come back for another worker', async ({ parties, expect }) => {
    const { sent } = await takeTicket(parties, [{ whoami: true }]);
    await parties.addWorker({ id: 'two' });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1, text: 'two' });
  });

  it('of a worker that failed on the job is put off while another could take it', async ({
    ingress,
    addWorker,
    expect,
  }) => {
    const steps = [{ only: 'bad', fail: 'upstream_failed' as const }, { whoami: true as const }];
    await addWorker({ id: 'bad', slots: 1 });
    await addWorker({ id: 'good', slots: 1 });
    const jobs = Array.from({ length: 10 }, () => ingress.send({ steps }));
    for (const { finished } of jobs) expect(await finished).toMatchObject({ state: 'done', text: 'good' });
  });

  it('of the only worker may be tried until the attempts are used up', async ({ ingress, addWorker, expect }) => {
    await addWorker();
    const report = await ingress.send({ steps: [{ fail: 'worker_lost' }] }).finished;
    expect(report).toMatchObject({ state: 'failed', attempts: 3, error: { code: 'worker_lost' } });
  });
});
