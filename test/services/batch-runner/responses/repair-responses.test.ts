import { expect, inject, it } from 'vitest';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import type { ResponseJob } from '#shared/background/response-jobs.ts';
import { ResponseRepair } from '#services/batch-runner/responses/repair-responses.ts';
import { openBackgroundResponses } from '../../../helpers/accounts/open-background-responses.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';

it('responses whose jobs are lost get new ones, owners with few of them first', async () => {
  const { prefix, work, create, begin } = await openBackgroundResponses();
  const access = { url: inject('redisUrl'), prefix, log: silentLog };
  const jobs = stopAfterTest(new BackgroundJobs(access));
  const repair = stopAfterTest(new ResponseRepair({ responses: work, jobs, log: silentLog }));
  const createdAt = Date.now();
  for (const [at, name] of ['ada 1', 'ada 2', 'bob 1', 'cyd 1'].entries())
    await create(name, { owner: name.slice(0, 3), createdAt: createdAt + at });
  await begin('ada 1');
  await begin('cyd 1');
  await repair.check();
  // Its run has ended, and another one has begun: there is a job.
  await begin('cyd 1');
  expect((await jobs.countAll()).responses.waiting).toBe(0);
  await repair.check();
  const made: string[] = [];
  const handle = async ({ response }: ResponseJob): Promise<void> => void made.push(response);
  stopAfterTest(new BackgroundWorker<ResponseJob>({ access, queue: 'responses', concurrency: 1, handle }));
  await until(() => made.length === 3);
  expect(made).toEqual(['ada 1', 'bob 1', 'ada 2']);
});
