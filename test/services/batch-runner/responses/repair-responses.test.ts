import { expect, inject, it, onTestFinished } from 'vitest';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import type { ResponseJob } from '#shared/background/response-jobs.ts';
import { createLog } from '#shared/core/log.ts';
import { ResponseRepair } from '#services/batch-runner/responses/repair-responses.ts';
import { openBackgroundResponses } from '../../../helpers/accounts/open-background-responses.ts';
import { until } from '../../../helpers/until.ts';

it('responses whose jobs are lost get new ones, owners with few of them first', async () => {
  const { prefix, work, create, begin } = await openBackgroundResponses();
  const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
  const access = { url: inject('redisUrl'), prefix, log };
  const jobs = new BackgroundJobs(access);
  onTestFinished(() => jobs.close());
  const repair = new ResponseRepair({ work, jobs, log });
  onTestFinished(() => repair.close());
  const createdAt = Date.now();
  await create('resp_a1', { createdAt });
  await create('resp_a2', { createdAt: createdAt + 1 });
  await create('resp_b1', { owner: 'bob', createdAt: createdAt + 2 });
  await create('resp_c1', { owner: 'cyd', createdAt: createdAt + 3 });
  await begin('resp_a1');
  await begin('resp_c1');
  await repair.look();
  // Its run has ended, and another one has begun: there is a job.
  await begin('resp_c1');
  expect((await jobs.countAll()).responses.waiting).toBe(0);
  await repair.look();
  const made: string[] = [];
  const handle = async ({ response }: ResponseJob): Promise<void> => void made.push(response);
  const worker = new BackgroundWorker<ResponseJob>({ access, queue: 'responses', concurrency: 1, handle });
  onTestFinished(() => worker.close());
  await until(() => made.length === 3);
  expect(made).toEqual(['resp_a1', 'resp_b1', 'resp_a2']);
});
