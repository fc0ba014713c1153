import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { startRedis } from '../../helpers/servers/start-redis.ts';
import { silentLog as log } from '../../helpers/silent-log.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const server = useStarted(() => startRedis());

it('a worker to which Redis refuses a job tries again once a second, and does the job when it takes writes again', async () => {
  const { redis, prefix } = await openKeyStore(server.url);
  const access = { url: server.url, prefix, log };
  const jobs = stopAfterTest(new BackgroundJobs(access));
  await jobs.add({ queue: 'responses', id: 'one', data: {} });
  await redis.config('SET', 'maxmemory', '1');
  const countErrors = async () => Number(/errorstat_OOM:count=(\d+)/.exec(await redis.info('errorstats'))?.[1] ?? 0);
  const worker = stopAfterTest(
    new BackgroundWorker({ access, queue: 'responses', concurrency: 4, handle: () => Promise.resolve() }),
  );
  await until(async () => (await countErrors()) > 0);
  const before = await countErrors();
  await sleep(1_000);
  expect((await countErrors()) - before).toBeLessThan(10);
  await redis.config('SET', 'maxmemory', '0');
  await until(() => worker.completions === 1);
});
