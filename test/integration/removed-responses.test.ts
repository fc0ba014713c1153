import OpenAI from 'openai';
import { expect, inject, it, onTestFinished } from 'vitest';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { silentLog } from '../helpers/silent-log.ts';

const cluster = useCluster();

it('responses in the background that are deleted or cancelled before a runner takes them leave no jobs', async () => {
  const prefix = `${cluster.prefix}:`;
  const jobs = new BackgroundJobs({ url: inject('redisUrl'), prefix, log: silentLog });
  onTestFinished(() => jobs.close());
  const { redis } = await openKeyStore(inject('redisUrl'), prefix);
  const before = await jobs.countWaiting('responses');
  const recordsBefore = await redis.zcard(`${prefix}background-expiries`);
  const { responses } = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
  const made = [];
  for (let at = 0; at < 3; at += 1)
    made.push(await responses.create({ model: 'demo', input: 'Tell a story.', background: true }));
  expect(await jobs.countWaiting('responses')).toBe(before + 3);
  const [first = '', second = '', third = ''] = made.map(({ id }) => id);
  for (const id of [first, second]) await responses.delete(id);
  await responses.cancel(third);
  expect(await jobs.countWaiting('responses')).toBe(before);
  await responses.delete(third);
  expect(await redis.zcard(`${prefix}background-expiries`)).toBe(recordsBefore);
});
