import { describe, it, type TestContext } from 'vitest';
import {
  startParties,
  type Parties,
  type PartyOptions,
  type TestJob,
  type TestRequest,
} from '../../../../helpers/broker/broker-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../../helpers/until.ts';

const mib = 1024 * 1024;

async function start({ onTestFinished }: TestContext, ingress: PartyOptions['ingress'] = {}): Promise<Parties> {
  const parties = await startParties({ ingress: { continueBytes: 64 * mib, ...ingress } });
  onTestFinished(() => parties.close());
  return parties;
}

/** A worker that continues streams. */
const able = (id: string, more: Record<string, string> = {}) => ({ WORKER_ID: id, CONTINUES: '1', ...more });

const lines = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

/** Counts to 10, and writes the rest on another worker. */
const counting: Step[] = [{ count: 10, everyMs: 10 }, { only: 'first', hang: true }, { write: 'the rest' }];
const begun = lines(10);
const whole = `${begun}the rest`;

/** A job that counts on the worker `first`, with another one beside it that is there when the first one is killed. */
async function killed(
  parties: Parties,
  request: TestRequest,
  second: Record<string, string> | undefined,
): Promise<TestJob> {
  const first = await parties.forkWorker(able('first'));
  const sent = parties.ingress.send({ continues: true, steps: counting, ...request });
  await until(() => sent.text() === begun);
  if (second) await parties.forkWorker(second);
  await first.process.kill();
  return sent;
}

describe.concurrent('a stream that loses its worker in its middle', { timeout: 30_000 }, () => {
  it('goes on with one that continues streams, and begins once', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    const told: string[] = [];
    const sink = {
      begin: ({ attempt }: { attempt: { worker: { id: string } } | undefined }) =>
        void told.push(`begins on ${attempt?.worker.id}`),
      moved: ({ attempt }: { attempt: { worker: { id: string } } | undefined }) =>
        void told.push(`moves to ${attempt?.worker.id}`),
    };
    const sent = await killed(parties, { sink }, able('second'));
    const report = await sent.finished;
    expect(sent.text()).toBe(whole);
    expect(told).toEqual(['begins on first', 'moves to second']);
    expect(report).toMatchObject({ state: 'done', attempts: 2, moves: ['worker_lost'], continuations: ['continued'] });
    expect(report.attempt?.worker.id).toBe('second');
    const { claimedAt = 0, firstByteAt = 0, endedAt } = report;
    expect(claimedAt).toBeLessThan(firstByteAt);
    expect(endedAt - firstByteAt).toBeGreaterThan(500);
    expect(parties.ingress.dispatcher.keptBytes).toBe(0);
  });

  it('goes on with a request of several parts', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    const steps: Step[] = [...counting, { digest: true }];
    const body = Buffer.from(JSON.stringify({ steps, padding: 'x'.repeat(2 * mib) }));
    const sent = await killed(parties, { body }, able('second'));
    expect((await sent.finished).state).toBe('done');
    expect(sent.text()).toMatch(/^0\n[^]*\n9\nthe rest[0-9a-f]{64}$/);
  });

  it('goes on where its worker only failed, and where it is stopped', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    const { worker } = await parties.addWorker({
      id: 'first',
      models: [{ id: 'demo', capabilities: ['stream', 'continue'] }],
    });
    const failing = parties.ingress.send({
      continues: true,
      steps: [
        { write: 'one' },
        { only: 'first', waitMs: 4_000 },
        { only: 'first', fail: 'upstream_failed' },
        { write: ', two' },
      ],
    });
    const stopped = parties.ingress.send({
      continues: true,
      steps: [{ write: 'one' }, { only: 'first', hang: true }, { write: ', two' }],
    });
    await until(() => [failing, stopped].every(({ text }) => text() === 'one'));
    await parties.forkWorker(able('second'));
    expect(await failing.finished).toMatchObject({
      state: 'done',
      moves: ['upstream_failed'],
      continuations: ['continued'],
    });
    await worker.drain(0);
    expect(await stopped.finished).toMatchObject({ state: 'done', moves: ['shutting_down'] });
    for (const { text } of [failing, stopped]) expect(text()).toBe('one, two');
  });

  it.for<[string, TestRequest, PartyOptions['ingress']]>([
    ['does not want it', { continues: false }, {}],
    ['says nothing of it', { continues: undefined }, {}],
    ['has no memory for it', {}, { continueBytes: 0 }],
  ])('ends at once with its error where the request %s', async ([, request, settings], context) => {
    const { expect } = context;
    const parties = await start(context, settings);
    const sent = await killed(parties, request, able('second'));
    const report = await sent.finished;
    expect(report).toMatchObject({ state: 'failed', attempts: 1, error: { code: 'worker_lost' }, continuations: [] });
    expect(sent.text()).toBe(begun);
  });

  it('ends with its error where it was not kept for lack of room', async (context) => {
    const { expect } = context;
    const parties = await start(context, { continueBytes: 8_000 });
    const sent = await killed(parties, {}, able('second'));
    expect(await sent.finished).toMatchObject({
      attempts: 1,
      error: { code: 'worker_lost' },
      continuations: ['not_kept'],
    });
  });

  it.for([
    ['none', undefined],
    ['one of an older release', { WORKER_ID: 'second' }],
    ['one of another model', able('second', { MODEL: 'other' })],
  ] as const)(
    'waits for an able worker with keep-alives, and ends with its error where there is %s',
    async ([, second], context) => {
      const { expect } = context;
      const parties = await start(context, { keepAliveMs: 300, timeouts: { noWorkerMs: 1_000 } });
      const sent = await killed(parties, {}, second);
      const report = await sent.finished;
      expect(report).toMatchObject({
        state: 'failed',
        attempts: 1,
        moves: ['worker_lost'],
        error: { code: 'worker_lost' },
        continuations: ['no_worker'],
      });
      expect(sent.error()?.message).toBe('The worker was lost in the middle of the answer.');
      expect(sent.keepAlives()).toBeGreaterThan(1);
      expect(sent.text()).toBe(begun);
    },
  );

  it('goes on with a worker that comes while it waits', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    const sent = await killed(parties, {}, undefined);
    await until(() => sent.job.state === 'queued');
    await parties.forkWorker(able('second'));
    expect((await sent.finished).continuations).toEqual(['continued']);
    expect(sent.text()).toBe(whole);
  });

  it.for(['refused', 'mismatch'] as const)(
    'ends with its error where the other worker reports %s',
    async (failure, context) => {
      const { expect } = context;
      const parties = await start(context);
      const sent = await killed(parties, { steps: [{ cannotContinue: failure }, ...counting] }, able('second'));
      const report = await sent.finished;
      expect(report).toMatchObject({
        state: 'failed',
        attempts: 2,
        error: { code: 'worker_lost' },
        continuations: [failure],
      });
      expect(sent.error()?.message).toBe('The worker was lost in the middle of the answer.');
      // The worker is not to blame.
      const next = parties.ingress.send({ steps: [{ whoami: true }] });
      await next.finished;
      expect(next.text()).toBe('second');
    },
  );

  it('takes two workers if it kills them, and a repeated one takes none', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    for (const id of ['one', 'two', 'three']) await parties.forkWorker(able(id));
    const poison: TestRequest = { continues: true, steps: [{ count: 5, everyMs: 20 }, { die: true }] };
    const sent = parties.ingress.send(poison);
    const report = await sent.finished;
    expect(report).toMatchObject({
      state: 'failed',
      attempts: 2,
      error: { code: 'workers_died' },
      continuations: ['failed'],
    });
    expect(sent.text()).toBe(lines(5));
    const again = await parties.ingress.send(poison).finished;
    expect([again.error?.code, again.attempts]).toEqual(['workers_died', 0]);
    await until(() => [...parties.ingress.workers.workers()].length === 1);
  });

  it('ends within the time of its ingress to drain', async (context) => {
    const { expect } = context;
    const parties = await start(context);
    const sent = await killed(parties, {}, undefined);
    await until(() => sent.job.state === 'queued');
    const begin = performance.now();
    await parties.ingress.dispatcher.drain(300);
    expect(performance.now() - begin).toBeLessThan(1_000);
    expect((await sent.finished).error?.code).toBe('shutting_down');
  });
});
