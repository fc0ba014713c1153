import { Registry } from 'prom-client';
import { expect, inject, it } from 'vitest';
import type { RelayContext } from '#services/batch-runner/start-relayed-worker.ts';
import { startWebhooks } from '#services/batch-runner/webhooks/start-webhooks.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { Releases } from '#shared/core/release.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';
import { openTestWebhooks } from '../../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../../helpers/webhooks/start-receiver.ts';

/** Members with as many webhooks as they may have, whose receivers never answer. */
const slowMembers = ['ada', 'eve'] as const;
const endpointsOfMember = 20;

it('webhooks whose receivers never answer delay nobody else, and each of their owner has the same share', async () => {
  const { add, outbox, batchEvent, endpoints, deliveries, redis, prefix } = await openTestWebhooks();
  const access = { url: inject('redisUrl'), prefix, log: silentLog };
  const jobs = stopAfterTest(new BackgroundJobs(access));
  const releases = new Releases();
  const queues: RelayContext['queues'] = new Map();
  const context = { access, jobs, queues, metricsRegistry: new Registry(), log: silentLog, releases };
  startWebhooks(context, { endpoints, deliveries }, ['127.0.0.1']);
  stopAfterTest({ stop: () => Promise.all([releases.releaseAll(), queues.get('webhooks')?.close()]) });
  const silent = await startReceiver();
  silent.answer(() => undefined);
  for (const member of slowMembers) {
    await redis.hset(`${prefix}user:${member}`, 'name', member);
    for (let count = 0; count < endpointsOfMember; count += 1)
      await add(silent.url, { owner: `user:${member}`, events: ['batch.*'] });
    for (let sent = 0; sent < 6; sent += 1) await outbox.emit(batchEvent(`user:${member}`));
  }
  await until(() => silent.messages.length >= slowMembers.length * endpointsOfMember);
  const receiver = await startReceiver();
  await add(receiver.url);
  const startedAt = performance.now();
  await outbox.emit(batchEvent());
  await until(() => receiver.messages.length === 1);
  expect(performance.now() - startedAt).toBeLessThan(6_000);
  expect(silent.messages).toHaveLength(slowMembers.length * endpointsOfMember);
});
