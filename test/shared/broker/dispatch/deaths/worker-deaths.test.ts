import { expect, it } from 'vitest';
import { Attempt } from '#shared/broker/dispatch/attempt.ts';
import { WorkerDeaths } from '#shared/broker/dispatch/deaths/worker-deaths.ts';
import { Job } from '#shared/broker/dispatch/job.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { livePool } from '../../../../helpers/broker/live-pool.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

const body = Buffer.from('{}');
const pool = livePool({ tier: 'gpu', pool: 'p', models: [{ id: 'm', capabilities: ['stream'] }] }, [
  { id: 'a' },
  { id: 'b' },
]);

/** Milliseconds from the beginning of an attempt to the death of its worker. */
interface Try {
  afterMs: number;
}

/** Whether the body of a job is refused after two workers have died with the job. */
function isRefusedAfter(tries: readonly [Try, Try]): boolean {
  const broker = {
    subscribe: () => ({ unsubscribe: () => undefined }),
    publish: () => undefined,
    subjects: { refusedBodies: 'refused' },
  } as unknown as ConstructorParameters<typeof WorkerDeaths>[0];
  const workers = [...pool.workers];
  const deaths = new WorkerDeaths(broker, { get: () => undefined, workers: () => workers }, silentLog);
  const request = { requestId: 'r', sender: { owner: 'o' }, operation: 'generate', format: 'chat' } as JobRequest;
  const job = new Job('j', request, body, { begin: () => undefined } as unknown as Job['sink']);
  const [first, second] = tries.map(({ afterMs }, at) => {
    const worker = workers[at];
    if (!worker) throw new Error('there is no worker');
    const attempt = new Attempt(worker, { pool, model: 'm' }, false);
    return { attempt, diedAt: attempt.assignedAt + afterMs };
  });
  if (!first || !second) throw new Error('there are no attempts');
  job.enter('claimed');
  deaths.record(job, first.attempt, first.diedAt);
  expect(job.death).toBeDefined();
  if (job.death)
    expect(deaths.recordSecondDeath(job, job.death, second.attempt, second.diedAt).code).toBe('workers_died');
  const isRefused = deaths.findRefusal(request, body) !== undefined;
  deaths.close();
  return isRefused;
}

it.each<[string, [Try, Try], boolean]>([
  ['died with it at once', [{ afterMs: 500 }, { afterMs: 3_000 }], true],
  ['had it for long', [{ afterMs: 20_000 }, { afterMs: 500 }], false],
  ['had it for long at last', [{ afterMs: 500 }, { afterMs: 20_000 }], false],
])('a body is refused only if it may have killed both workers, not if one %s', (_, tries, isRefused) => {
  expect(isRefusedAfter(tries)).toBe(isRefused);
});
