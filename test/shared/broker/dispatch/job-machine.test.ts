import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { Attempt } from '#shared/broker/dispatch/attempt.ts';
import { DeathChecks } from '#shared/broker/dispatch/deaths/death-checks.ts';
import { Quarantine } from '#shared/broker/dispatch/deaths/quarantine.ts';
import { WorkerDeaths } from '#shared/broker/dispatch/deaths/worker-deaths.ts';
import { JobConditions } from '#shared/broker/dispatch/job-conditions.ts';
import type { JobPlacer } from '#shared/broker/dispatch/claims/job-placer.ts';
import type { DispatchContext } from '#shared/broker/dispatch/dispatch-context.ts';
import { JobEffects } from '#shared/broker/dispatch/job-effects.ts';
import type { Queue } from '#shared/broker/dispatch/queue/queue.ts';
import type { JobEvent } from '#shared/broker/dispatch/job-event.ts';
import { jobLife } from '#shared/broker/dispatch/job-life.ts';
import { JobMachine } from '#shared/broker/dispatch/job-machine.ts';
import { JobTable } from '#shared/broker/dispatch/job-table.ts';
import { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { ContinuationMemory } from '#shared/broker/dispatch/continuation/continuation-memory.ts';
import { OutcomeJudge } from '#shared/broker/dispatch/workers/outcome-judge.ts';
import { noUsage } from '#shared/core/usage.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const model = { id: 'm', capabilities: ['stream' as const, 'continue' as const] };

interface Settings {
  operation: JobRequest['operation'];
  continues: boolean;
  /** Whether a worker is free each time that the job is placed. */
  offers: readonly boolean[];
}

/** A machine with the real conditions and effects. Messages go nowhere, and every death check answers what `verdicts` says. */
function open({ operation, continues, offers }: Settings) {
  const pool = livePool({ tier: 'gpu', pool: 'p', models: [model] }, [{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  const workers = [...pool.workers];
  const log: { thrown: unknown[]; outputs: string[] } = { thrown: [], outputs: [] };
  const logger = Object.assign(Object.create(silentLog) as typeof silentLog, {
    error: ({ err }: { err?: unknown }) => err !== undefined && log.thrown.push(err),
  });
  const broker = {
    subscribe: () => ({ unsubscribe: () => undefined }),
    publish: () => undefined,
    subjects: { refusedBodies: 'refused' },
  } as unknown as ConstructorParameters<typeof WorkerDeaths>[0];
  const known = { get: (id: string) => workers.find((worker) => worker.id === id), workers: () => workers };
  const deaths = new WorkerDeaths(broker, known, logger);
  const judge = new OutcomeJudge(logger);
  const jobs = new JobTable();
  const free = [...offers];
  const createOffer = (): JobEvent => {
    const worker = workers[Math.floor(free.length % workers.length)];
    if (!worker) throw new Error('there is no worker');
    return { type: 'offered', attempt: new Attempt(worker, { pool, model: 'm' }, true), to: { subject: 's', v: 1 } };
  };
  const none = (): void => undefined;
  const raise = (job: Job, event: JobEvent): void => machine.raise(job, event);
  const placer = { place: () => (free.shift() === true ? createOffer() : undefined) } as unknown as JobPlacer;
  const queue = { maintain: none, tickets: { review: none } } as unknown as Queue;
  const context = {
    jobs,
    link: { offer: none, grant: none, cancel: none, requestFrames: none },
    quarantine: new Quarantine(),
    deaths,
    checks: { start: (_: Job, __: unknown, { onVerdict }) => onVerdict(free.length % 2 === 0) } satisfies Pick<
      DeathChecks,
      'start'
    >,
    judge,
    log: logger,
    raise,
  } as unknown as DispatchContext;
  const machine = new JobMachine(new JobConditions(deaths, 3), new JobEffects(context, placer, queue), logger);
  const request: JobRequest = {
    requestId: 'r',
    operation,
    format: 'chat',
    stream: operation === 'generate',
    class: 'normal',
    sender: { owner: 'o', key: 'k' },
    mayContinue: continues,
    findPlacements: (avoid) => (workers.some(({ id }) => !avoid.has(id)) ? [{ pool, model: 'm' }] : []),
    tiers: () => ['gpu'],
  };
  const note = (name: string) => (): void => void log.outputs.push(name);
  const sink = {
    begin: note('begin'),
    data: note('data'),
    keepAlive: note('keepAlive'),
    end: note('end'),
    fail: note('fail'),
  };
  const job = new Job('j', request, Buffer.from('{}'), sink, new ContinuationMemory(1024 * 1024));
  jobs.add(job);
  return { job, jobs, machine, workers, log, createOffer, close: () => deaths.close() };
}

const failures = fc.constantFrom<RouterError['code']>(
  'upstream_failed',
  'invalid_request',
  'worker_lost',
  'rate_limit_exceeded',
);
const events: fc.Arbitrary<JobEvent | 'piece' | 'frame'> = fc.oneof(
  fc.constantFrom('piece' as const, 'frame' as const),
  fc.constantFrom(...(Object.keys(jobLife) as JobEvent['type'][])).chain(
    (type): fc.Arbitrary<JobEvent> =>
      fc.record({
        type: fc.constant(type),
        error: failures.map((code) => new RouterError(code, 'It failed.')),
        isUnbegun: fc.boolean(),
        evidence: fc.constantFrom('closed', 'replaced', undefined),
        end: fc.constant({ usage: noUsage, finishReason: 'stop' }),
      }) as fc.Arbitrary<unknown> as fc.Arbitrary<JobEvent>,
  ),
);

it('no sequence of events leads a job to an impossible state, ends it twice or leaves a slot taken', async () => {
  const settings: fc.Arbitrary<Settings> = fc.record({
    operation: fc.constantFrom('generate', 'embed', 'execute_tool'),
    continues: fc.boolean(),
    offers: fc.array(fc.boolean(), { maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(settings, fc.array(events, { minLength: 1, maxLength: 30 }), async (made, happens) => {
      const { job, jobs, machine, workers, log, createOffer, close } = open(made);
      const reports: JobReport[] = [];
      void job.finished.then((report) => reports.push(report));
      for (const event of happens) {
        if (event === 'frame') job.attempt?.recordFrame('k', performance.now());
        else if (event === 'piece' && job.attempt && job.request.stream && !job.isOver) {
          job.attempt.recordFrame('d', performance.now());
          if (job.state === 'claimed') machine.raise(job, { type: 'answerBegan' });
          job.write(Buffer.from('x'), performance.now());
        } else if (event !== 'piece' && isAllowed(job, event))
          machine.raise(job, event.type === 'offered' || event.type === 'granted' ? createOffer() : event);
        const held = workers.reduce((sum, { ownJobs }) => sum + ownJobs, 0);
        expect(held).toBe(job.state === 'claimed' || job.state === 'streaming' ? 1 : 0);
        expect(jobs.size).toBe(job.isOver ? 0 : 1);
      }
      await Promise.resolve();
      expect(log.thrown).toEqual([]);
      expect(reports).toHaveLength(job.isOver ? 1 : 0);
      expect(log.outputs.filter((name) => name === 'begin').length).toBeLessThanOrEqual(1);
      expect(log.outputs.filter((name) => name === 'fail')).toHaveLength(job.state === 'failed' ? 1 : 0);
      // Three, and one for a death, which costs no attempt.
      expect(job.attempts).toBeLessThanOrEqual(4);
      close();
    }),
    { numRuns: 1_000 },
  );
});

/** A dispatcher raises these events only in these states. */
function isAllowed({ state }: Job, { type }: JobEvent): boolean {
  if (type === 'offered' || type === 'granted') return state === 'queued';
  if (type === 'answerBegan') return false;
  return type === 'ended' ? state === 'claimed' || state === 'streaming' : true;
}

it('a step that its state does not allow ends only its own job, as a failure of the router', () => {
  const { job, machine, log, close } = open({ operation: 'generate', continues: false, offers: [] });
  machine.raise(job, { type: 'answerBegan' });
  expect(job.state).toBe('failed');
  expect(log.thrown).toEqual([new Error('the event answerBegan came to a queued job')]);
  close();
});
