import { nanos } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it, type TestContext } from 'vitest';
import { decodeClaimAnswer } from '#shared/broker/contract/claim.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import { ensurePoolConsumers } from '#shared/broker/dispatch/queue/jobs-stream.ts';
import { consumerName } from '#shared/broker/contract/subjects.ts';
import { decodeTicket } from '#shared/broker/contract/ticket.ts';
import { noUsage } from '#shared/core/usage.ts';
import { startParties, type Parties, type PartyOptions } from '../../../../helpers/broker/broker-parties.ts';
import { until } from '../../../../helpers/until.ts';

async function start({ onTestFinished }: TestContext, options: PartyOptions = {}): Promise<Parties> {
  const parties = await startParties(options);
  onTestFinished(() => parties.close());
  return parties;
}

const done = { usage: noUsage, finishReason: 'stop' };

function poolOf(parties: Parties, id: string): LiveWorker['pool'] {
  const pool = parties.ingress.workers.get(id)?.pool;
  if (!pool) throw new Error(`worker ${id} is not known`);
  return pool;
}

describe.concurrent('the queue', () => {
  it('drains high first, and still gives normal and low their share', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    await addWorker({
      slots: 1,
      handler: async ({ requestId }) => {
        await gate.promise;
        order.push(requestId);
        return done;
      },
    });
    const first = ingress.send({ requestId: 'first' });
    await until(() => first.job.state === 'claimed');
    const classes = ['low', 'normal', 'high'] as const;
    const jobs = Array.from({ length: 36 }, (_, at) => {
      const name = classes[at % 3] ?? 'normal';
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

  it('never gives a worker more jobs than it has slots', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    let running = 0;
    let most = 0;
    const { worker } = await addWorker({
      slots: 3,
      handler: async () => {
        running += 1;
        most = Math.max(most, running, worker.busy);
        await sleep(2);
        running -= 1;
        return done;
      },
    });
    const classes = ['low', 'normal', 'high'] as const;
    const jobs = Array.from({ length: 200 }, (_, at) => ingress.send({ class: classes[at % 3] ?? 'normal' }));
    const reports = await Promise.all(jobs.map(({ finished }) => finished));
    expect(reports.every(({ state, attempts }) => state === 'done' && attempts === 1)).toBe(true);
    expect(most).toBe(3);
  });

  it('brings what one worker cannot take to an idle one at once', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    const handler = (): Promise<typeof done> => sleep(1_000, done);
    await addWorker({ id: 'one', slots: 2, handler });
    await addWorker({ id: 'two', slots: 2, handler });
    await sleep(50);
    const jobs = Array.from({ length: 4 }, () => ingress.send({}));
    await until(() => jobs.every(({ job }) => job.state === 'claimed'), 800);
    const reports = await Promise.all(jobs.map(({ finished }) => finished));
    const servers = reports.map(({ attempt }) => attempt?.worker.announcement.worker);
    expect(servers.filter((id) => id === 'one')).toHaveLength(2);
  });

  it('that is full refuses one more, and lets those that wait go on waiting', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, { ingress: { queue: { maxQueued: 2, maxAgeMs: 60_000 } } });
    const { worker } = await addWorker({ accepting: false });
    const [pool] = ingress.workers.pools();
    const place = () => (pool ? [{ pool, model: 'demo' }] : []);
    const waiting = ['one', 'two'].map((key) =>
      ingress.send({ place, steps: [{ write: 'x' }], sender: { owner: 'team', key } }),
    );
    await until(() => waiting.every(({ job }) => job.tickets.isAdmitted));
    const tooMuch = ingress.send({ place });
    const { state, error } = await tooMuch.finished;
    expect([state, error?.code]).toEqual(['failed', 'overloaded']);
    // Two jobs wait before a worker that has taken none, for as long as the test has run: about a second on a slow machine.
    expect([1, 2, 3, 4]).toContain(error?.retryAfter);
    worker.update({ accepting: true });
    for (const { finished } of waiting) expect((await finished).state).toBe('done');
  });

  it('has places left for others when one key fills it', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, { ingress: { queue: { maxQueued: 20, maxAgeMs: 60_000 } } });
    await addWorker({ accepting: false });
    const [pool] = ingress.workers.pools();
    const place = () => (pool ? [{ pool, model: 'demo' }] : []);
    const send = (key: string) => ingress.send({ place, sender: { owner: key, key } });
    const loud = Array.from({ length: 20 }, () => send('loud'));
    expect(loud.filter(({ job }) => job.state === 'queued')).toHaveLength(10);
    const quiet = Array.from({ length: 6 }, () => send('quiet'));
    expect(quiet.filter(({ job }) => job.state === 'queued')).toHaveLength(5);
    for (const { cancel } of [...loud, ...quiet]) cancel();
    expect(send('loud').job.state).toBe('queued');
  });

  it('has room for the next after more jobs were cancelled than may wait', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, { ingress: { queue: { maxQueued: 20, maxAgeMs: 60_000 } } });
    const { worker } = await addWorker({ slots: 1, accepting: false });
    const [pool] = ingress.workers.pools();
    const place = () => (pool ? [{ pool, model: 'demo' }] : []);
    for (let round = 0; round < 6; round += 1) {
      const jobs = Array.from({ length: 8 }, () => ingress.send({ place }));
      await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
      for (const { cancel } of jobs) cancel();
    }
    const jobs = Array.from({ length: 8 }, () => ingress.send({ place, steps: [{ write: 'x' }] }));
    await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
    worker.update({ accepting: true });
    for (const { finished } of jobs) expect((await finished).state).toBe('done');
  });

  it('fails a job after its timeout when there is no worker', async (context) => {
    const { expect } = context;
    const { ingress } = await start(context, { ingress: { timeouts: { noWorkerMs: 300 } } });
    const { finished } = ingress.send({});
    const { error, queuedAt, endedAt } = await finished;
    expect(error?.code).toBe('no_worker_available');
    expect(endedAt - queuedAt).toBeGreaterThan(299);
    expect(endedAt - queuedAt).toBeLessThan(1_000);
  });

  it('fails a job after the same timeout when the only worker stops taking jobs', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, { ingress: { timeouts: { noWorkerMs: 300 } } });
    const { worker } = await addWorker({ slots: 0 });
    const { finished } = ingress.send({});
    worker.update({ accepting: false });
    expect((await finished).error?.code).toBe('no_worker_available');
  });

  it('waits for a worker that comes in time', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, { ingress: { timeouts: { noWorkerMs: 5_000 } } });
    const { finished } = ingress.send({});
    await addWorker();
    expect(await finished).toMatchObject({ state: 'done', attempts: 1 });
  });

  it('takes jobs along when a worker changes its models, and with them its pool', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    const { worker, id } = await addWorker({ slots: 0 });
    const before = poolOf({ ingress } as Parties, id);
    const jobs = Array.from({ length: 5 }, () => ingress.send({ steps: [{ write: 'x' }] }));
    await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
    worker.update({ slots: 2, models: [{ id: 'other', capabilities: [] }] });
    for (const { finished } of jobs)
      expect(await finished).toMatchObject({ state: 'done', attempt: { placement: { model: 'other' } } });
    expect(before.waiting).toBe(0);
    expect(poolOf({ ingress } as Parties, id).waiting).toBe(0);
  });

  it('offers a job to the next lane when its first does not take it in time', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context, { ingress: { spillMs: 100 } });
    const busy = await addWorker({ id: 'busy', kind: 'a', slots: 1 });
    await addWorker({ id: 'free', kind: 'b', slots: 1 });
    const pools = [poolOf({ ingress } as Parties, 'busy'), poolOf({ ingress } as Parties, 'free')];
    const place = () => pools.map((pool) => ({ pool, model: 'demo' }));
    // Its announcement still says that it has a free slot.
    busy.worker.drain(0).catch(() => undefined);
    const report = await ingress.send({ place }).finished;
    expect(report.attempt?.worker.announcement.worker).toBe('free');
  });

  it('forgets no job when somebody deletes its stream', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    const { worker } = await addWorker({ slots: 0 });
    const jobs = Array.from({ length: 5 }, () => ingress.send({ steps: [{ write: 'x' }] }));
    await until(() => jobs.every(({ job }) => job.tickets.isAdmitted));
    const manager = await jetstreamManager(ingress.broker.nc);
    await manager.streams.delete(ingress.broker.subjects.stream('gpu'));
    worker.update({ slots: 2 });
    for (const { finished } of jobs) expect((await finished).state).toBe('done');
  });
});

describe.concurrent('a claim', () => {
  /** Takes the next ticket of a lane, as a worker does, and leaves it unanswered. */
  async function takeTicket({ ingress }: Parties, id: string): Promise<{ job: string; ingress: string }> {
    const { broker } = ingress;
    const lane = { ...poolOf({ ingress } as Parties, id), class: 'normal' as const };
    await ensurePoolConsumers(broker, lane.tier, lane.pool);
    const next = `$JS.API.CONSUMER.MSG.NEXT.${broker.subjects.stream(lane.tier)}.${consumerName(lane)}`;
    const { data } = await broker.nc.request(next, JSON.stringify({ batch: 1, expires: nanos(2_000) }), {
      timeout: 3_000,
      noMux: true,
    });
    const ticket = decodeTicket(data);
    if (!ticket) throw new Error('that was no ticket');
    return ticket;
  }

  /**
   * @param inboxOf the worker in whose inbox the answer comes
   * @param process token of the process there that claims. Default: the one that was announced
   */
  async function claim(
    { ingress }: Parties,
    ticket: { job: string; ingress: string },
    worker: string,
    { inboxOf = worker, process, v = 1 }: { inboxOf?: string; process?: string; v?: number } = {},
  ): Promise<string> {
    const { broker, workers } = ingress;
    const address = (name: string) => ({ tier: 'gpu', owner: 'open', worker: name }) as const;
    const inbox = broker.subjects.inbox(address(inboxOf));
    const announced = workers
      .at(address(inboxOf))
      ?.announcement.offersAt?.slice(inbox.length + 1)
      .split('.')[0];
    const reply = `${inbox}.${process ?? announced ?? 'any'}.claim.${randomUUID()}`;
    const subject = broker.subjects.claim(ticket.ingress, address(worker));
    const { data } = await broker.nc.request(subject, JSON.stringify({ v, job: ticket.job, ticket: '' }), {
      timeout: 1_000,
      noMux: true,
      reply,
    });
    return decodeClaimAnswer(data)?.answer.answer ?? 'unreadable';
  }

  it('is granted once: the next is answered with taken, and with gone when the job is over', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    await parties.addWorker({ id: 'one', slots: 0 });
    const sent = parties.ingress.send({});
    const ticket = await takeTicket(parties, 'one');
    expect(await claim(parties, ticket, 'one')).toBe('grant');
    expect(await claim(parties, ticket, 'one')).toBe('taken');
    sent.cancel();
    expect(await claim(parties, ticket, 'one')).toBe('gone');
  });

  it('in a version of the contract that is not spoken with its worker is put off', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    await parties.addWorker({ id: 'one', slots: 0 });
    const sent = parties.ingress.send({});
    const ticket = await takeTicket(parties, 'one');
    expect(await claim(parties, ticket, 'one', { v: 2 })).toBe('later');
    sent.cancel();
  });

  it('is not answered at the inbox of another worker', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    await parties.addWorker({ id: 'one', slots: 0 });
    const sent = parties.ingress.send({});
    const ticket = await takeTicket(parties, 'one');
    await expect(claim(parties, ticket, 'one', { inboxOf: 'two' })).rejects.toThrow('timeout');
    expect(sent.job.state).toBe('queued');
    expect(await claim(parties, ticket, 'one')).toBe('grant');
    sent.cancel();
  });

  it('of a worker that this ingress does not know is put off', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    await parties.addWorker({ id: 'one', slots: 0 });
    const sent = parties.ingress.send({});
    const ticket = await takeTicket(parties, 'one');
    expect(await claim(parties, ticket, 'stranger')).toBe('later');
    sent.cancel();
  });

  it('of another process than the announced one is put off: it may have been started in its place', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    await parties.addWorker({ id: 'one', slots: 0 });
    const sent = parties.ingress.send({});
    const ticket = await takeTicket(parties, 'one');
    expect(await claim(parties, ticket, 'one', { process: randomUUID() })).toBe('later');
    expect(sent.job.state).toBe('queued');
    expect(await claim(parties, ticket, 'one')).toBe('grant');
    sent.cancel();
  });

  it('that is never made lets the ticket come back for another worker', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    await parties.addWorker({ id: 'one', slots: 0 });
    const sent = parties.ingress.send({ steps: [{ whoami: true }] });
    await takeTicket(parties, 'one');
    await parties.addWorker({ id: 'two' });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(sent.text()).toBe('two');
  });

  it('of the worker that has just failed on the job is put off while another one could take it', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    const steps = [{ only: 'bad', fail: 'upstream_failed' as const }, { whoami: true as const }];
    await addWorker({ id: 'bad', slots: 1 });
    await addWorker({ id: 'good', slots: 1 });
    const jobs = Array.from({ length: 10 }, () => ingress.send({ steps }));
    for (const sent of jobs) {
      expect((await sent.finished).state).toBe('done');
      expect(sent.text()).toBe('good');
    }
  });

  it('of the only worker there is may be tried until the attempts are used up', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    await addWorker();
    const report = await ingress.send({ steps: [{ fail: 'worker_lost' }] }).finished;
    expect(report).toMatchObject({ state: 'failed', attempts: 3, error: { code: 'worker_lost' } });
  });
});
