import { describe } from 'vitest';
import type { JobSink, ServedJob } from '#shared/broker/dispatch/job-sink.ts';
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

/** Steps that count to 10; the other worker writes the rest. */
const counting: Step[] = [{ count: 10, everyMs: 10 }, { only: 'first', hang: true }, { write: 'the rest' }];
const begun = lines(10);
const whole = `${begun}the rest`;

/** The end of a job that does not continue. */
const lost = { state: 'failed', error: { code: 'worker_lost' } };

/** A job that counts on the worker `first`. Another worker is present when the first one dies. */
async function killed(
  { ingress, addWorker }: Parties,
  request: TestRequest,
  second: Partial<WorkerOptions> | undefined,
): Promise<TestJob> {
  const first = await addWorker(able('first'));
  const sent = ingress.send({ mayContinue: true, steps: counting, ...request });
  await until(() => sent.text() === begun);
  if (second) await addWorker(second);
  await first.die();
  return sent;
}

describe.concurrent('a stream that loses its worker in the middle', () => {
  it('continues on a worker that continues streams, and begins once', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const told: string[] = [];
    const tell = (what: string, { attempt }: ServedJob): unknown => told.push(`${what} ${attempt?.worker.id}`);
    const sink: Partial<JobSink> = { begin: (job) => tell('begins on', job), moved: (job) => tell('moves to', job) };
    const sent = await killed(parties, { sink }, able('second'));
    const report = await sent.finished;
    expect(told).toEqual(['begins on first', 'moves to second']);
    const moved = { state: 'done', attempts: 2, moves: ['worker_lost'], continuations: ['continued'], text: whole };
    expect(report).toMatchObject(moved);
    const { claimedAt = 0, firstByteAt = 0, endedAt } = report;
    expect(claimedAt).toBeLessThan(firstByteAt);
    expect(endedAt - firstByteAt).toBeGreaterThan(500);
    expect(parties.ingress.dispatcher.keptBytes).toBe(0);
  });

  it('continues with a request of several parts', async ({ start, expect }) => {
    const steps: Step[] = [...counting, { digest: true }];
    const body = Buffer.from(JSON.stringify({ steps, padding: 'x'.repeat(2 * mib) }));
    const sent = await killed(await start({ ingress: { continueBytes } }), { body }, able('second'));
    const text = expect.stringMatching(/^0\n[^]*\n9\nthe rest[0-9a-f]{64}$/);
    expect(await sent.finished).toMatchObject({ state: 'done', text });
  });

  it('continues if its worker only failed, and if its worker is stopped', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const { worker } = await parties.addWorker(able('first'));
    const send = (...steps: Step[]) =>
      parties.ingress.send({ mayContinue: true, steps: [{ write: 'one' }, ...steps, { write: ', two' }] });
    const failing = send({ only: 'first', waitMs: 2_000 }, { only: 'first', fail: 'upstream_failed' });
    const stopped = send({ only: 'first', hang: true });
    await until(() => [failing, stopped].every(({ text }) => text() === 'one'));
    await parties.addWorker(able('second'));
    const done = { state: 'done', continuations: ['continued'], text: 'one, two' };
    expect(await failing.finished).toMatchObject({ ...done, moves: ['upstream_failed'] });
    await worker.drain(0);
    expect(await stopped.finished).toMatchObject({ ...done, moves: ['shutting_down'] });
  });

  it.for<[string, boolean, number, string[]]>([
    ['does not want it', false, continueBytes, []],
    ['has no memory for it', true, 0, []],
    ['was not kept for lack of room', true, 8_000, ['not_kept']],
  ])('ends at once with its error if the request %s', async ([, continues, bytes, outcomes], { start, expect }) => {
    const sent = await killed(
      await start({ ingress: { continueBytes: bytes } }),
      { mayContinue: continues },
      able('second'),
    );
    expect(await sent.finished).toMatchObject({ ...lost, attempts: 1, continuations: outcomes, text: begun });
  });

  it.for<[string, Partial<WorkerOptions> | undefined]>([
    ['none', undefined],
    ['one of an older release', { id: 'second' }],
    ['one of another model', able('second', 'other')],
  ])('waits for an able worker, and ends with its error if there is %s', async ([, second], { start, expect }) => {
    const parties = await start({ ingress: { continueBytes, keepAliveMs: 100, timeouts: { noWorkerMs: 3_000 } } });
    const sent = await killed(parties, {}, second);
    const waited = { attempts: 1, moves: ['worker_lost'], continuations: ['no_worker'], text: begun };
    expect(await sent.finished).toMatchObject({ ...lost, ...waited });
    expect(sent.error()?.message).toBe('The worker was lost in the middle of the answer.');
    expect(sent.keepAlives()).toBeGreaterThan(1);
  });

  it('continues on a worker that comes while it waits', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const sent = await killed(parties, {}, undefined);
    await until(() => sent.job.state === 'queued');
    await parties.addWorker(able('second'));
    expect(await sent.finished).toMatchObject({ continuations: ['continued'], text: whole });
  });

  it.for(['refused', 'mismatch'] as const)(
    'ends with its error where the other worker reports %s',
    async (failure, { start, expect }) => {
      const parties = await start({ ingress: { continueBytes } });
      const sent = await killed(parties, { steps: [{ cannotContinue: failure }, ...counting] }, able('second'));
      expect(await sent.finished).toMatchObject({ ...lost, attempts: 2, continuations: [failure] });
      expect(sent.error()?.message).toBe('The worker was lost in the middle of the answer.');
      // The worker is not at fault.
      const next = await parties.ingress.send({ steps: [{ whoami: true }] }).finished;
      expect(next.text).toBe('second');
    },
  );

  it('kills two workers at most, and a repeated request kills none', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const workers = await Promise.all(['one', 'two', 'three'].map((id) => parties.addWorker(able(id))));
    const poison: TestRequest = { mayContinue: true, steps: [{ count: 5, everyMs: 20 }, { die: true }] };
    const died = { state: 'failed', error: { code: 'workers_died' } };
    const first = await parties.ingress.send(poison).finished;
    expect(first).toMatchObject({ ...died, attempts: 2, continuations: ['failed'], text: lines(5) });
    expect(await parties.ingress.send(poison).finished).toMatchObject({ ...died, attempts: 0 });
    expect(workers.filter(({ broker }) => broker.nc.isClosed())).toHaveLength(2);
  });

  it('ends within the drain time of its ingress', async ({ start, expect }) => {
    const parties = await start({ ingress: { continueBytes } });
    const sent = await killed(parties, {}, undefined);
    await until(() => sent.job.state === 'queued');
    const begin = performance.now();
    await parties.ingress.dispatcher.drain(300);
    // Otherwise it waits for 15 seconds for a worker.
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect((await sent.finished).error?.code).toBe('shutting_down');
  });
});
