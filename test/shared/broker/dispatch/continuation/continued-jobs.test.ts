import { describe } from 'vitest';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { WorkerOptions } from '#shared/broker/worker/worker-options.ts';
import type { Parties, TestJob, TestRequest } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../../helpers/until.ts';

const mib = 1024 * 1024;

const continueBytes = 64 * mib;

/** A worker that continues streams. */
const able = (id: string, model = 'demo'): Partial<WorkerOptions> => ({
  id,
  models: [{ id: model, capabilities: ['stream', 'continue'] }],
});

const lines = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

/** Counts to 10, and writes the rest on another worker. */
const counting: Step[] = [{ count: 10, everyMs: 10 }, { only: 'first', hang: true }, { write: 'the rest' }];
const begun = lines(10);
const whole = `${begun}the rest`;

/** A job that counts on the worker `first`, with another one beside it that is there when the first one dies. */
async function killed(
  { ingress, addWorker }: Parties,
  request: TestRequest,
  second: Partial<WorkerOptions> | undefined,
): Promise<TestJob> {
  const first = await addWorker(able('first'));
  const sent = ingress.send({ continues: true, steps: counting, ...request });
  await until(() => sent.text() === begun);
  if (second) await addWorker(second);
  await first.die();
  return sent;
}

describe.concurrent('a stream that loses its worker in its middle', () => {
  it('goes on with one that continues streams, and begins once', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const told: string[] = [];
    const tell =
      (what: string) =>
      ({ attempt }: Job): void =>
        void told.push(`${what} ${attempt?.worker.id}`);
    const sink = { begin: tell('begins on'), moved: tell('moves to') };
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

  it('goes on with a request of several parts', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const steps: Step[] = [...counting, { digest: true }];
    const body = Buffer.from(JSON.stringify({ steps, padding: 'x'.repeat(2 * mib) }));
    const sent = await killed(parties, { body }, able('second'));
    expect((await sent.finished).state).toBe('done');
    expect(sent.text()).toMatch(/^0\n[^]*\n9\nthe rest[0-9a-f]{64}$/);
  });

  it('goes on where its worker only failed, and where it is stopped', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const { worker } = await parties.addWorker(able('first'));
    const failing = parties.ingress.send({
      continues: true,
      steps: [
        { write: 'one' },
        { only: 'first', waitMs: 2_000 },
        { only: 'first', fail: 'upstream_failed' },
        { write: ', two' },
      ],
    });
    const stopped = parties.ingress.send({
      continues: true,
      steps: [{ write: 'one' }, { only: 'first', hang: true }, { write: ', two' }],
    });
    await until(() => [failing, stopped].every(({ text }) => text() === 'one'));
    await parties.addWorker(able('second'));
    expect(await failing.finished).toMatchObject({
      state: 'done',
      moves: ['upstream_failed'],
      continuations: ['continued'],
    });
    await worker.drain(0);
    expect(await stopped.finished).toMatchObject({ state: 'done', moves: ['shutting_down'] });
    for (const { text } of [failing, stopped]) expect(text()).toBe('one, two');
  });

  it.for<[string, boolean, number, string[]]>([
    ['does not want it', false, continueBytes, []],
    ['has no memory for it', true, 0, []],
    ['was not kept for lack of room', true, 8_000, ['not_kept']],
  ])('ends at once with its error where the request %s', async ([, continues, bytes, outcomes], { start, expect }) => {
    const parties = await start({ ingress: { continueBytes: bytes } });
    const sent = await killed(parties, { continues }, able('second'));
    const error = { code: 'worker_lost' };
    expect(await sent.finished).toMatchObject({ state: 'failed', attempts: 1, error, continuations: outcomes });
    expect(sent.text()).toBe(begun);
  });

  it.for<[string, Partial<WorkerOptions> | undefined]>([
    ['none', undefined],
    ['one of an older release', { id: 'second' }],
    ['one of another model', able('second', 'other')],
  ])(
    'waits for an able worker with keep-alives, and ends with its error where there is %s',
    async ([, second], { start, expect }) => {
      const parties = await start({ ingress: { continueBytes, keepAliveMs: 300, timeouts: { noWorkerMs: 1_000 } } });
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

  it('goes on with a worker that comes while it waits', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const sent = await killed(parties, {}, undefined);
    await until(() => sent.job.state === 'queued');
    await parties.addWorker(able('second'));
    expect((await sent.finished).continuations).toEqual(['continued']);
    expect(sent.text()).toBe(whole);
  });

  it.for(['refused', 'mismatch'] as const)(
    'ends with its error where the other worker reports %s',
    async (failure, { start, expect }) => {
      const parties = await start({ ingress: { continueBytes } });
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

  it('takes two workers if it kills them, and a repeated one takes none', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const workers = await Promise.all(['one', 'two', 'three'].map((id) => parties.addWorker(able(id))));
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
    expect(workers.filter(({ broker }) => broker.nc.isClosed())).toHaveLength(2);
  });

  it('ends within the time of its ingress to drain', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const sent = await killed(parties, {}, undefined);
    await until(() => sent.job.state === 'queued');
    const begin = performance.now();
    await parties.ingress.dispatcher.drain(300);
    expect(performance.now() - begin).toBeLessThan(3_000);
    expect((await sent.finished).error?.code).toBe('shutting_down');
  });
});
