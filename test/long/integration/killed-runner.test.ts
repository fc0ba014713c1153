import OpenAI from 'openai';
import { expect, inject, it, onTestFinished } from 'vitest';
import { createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { adminOf } from '../../helpers/cluster/worker-admin.ts';
import { startSmtp } from '../../helpers/mail/start-smtp.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { until } from '../../helpers/until.ts';
import { openTestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

const dayMs = 24 * 3_600_000;

const cluster = useCluster();

it('an alert by e-mail and webhooks whose runner is killed in the middle are sent by another one, with the ids that they had', async () => {
  const smtp = await startSmtp();
  const receiver = await startReceiver();
  const webhooks = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
  const { redis, prefix, store } = webhooks;
  const { endpoint, secret } = await webhooks.add(receiver.url);
  const jobs = new BackgroundJobs({ url: inject('redisUrl'), prefix, log: silentLog });
  onTestFinished(() => jobs.close());
  const settings = {
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    MAIL_FROM: 'Model Router <router@example.com>',
    PUBLIC_URL: 'https://llm.example.com',
    WEBHOOK_NETWORKS: '127.0.0.1',
    ADMIN_PORT: '0',
  };
  const runner = await cluster.addBatchRunner(settings);
  const bob = { id: 'bob', name: 'Bob', email: 'bob@example.com', role: 'member' };
  await redis.hset(`${prefix}user:bob`, bob);
  const made = await createOwnedKey(store, { kind: 'user', ownerId: 'bob', class: 'normal', name: 'laptop' });
  if (typeof made === 'string') throw new Error(made);
  const [createdAt, expiresAt] = [Date.now() - 30 * dayMs, Date.now() + 3 * dayMs];
  await redis.hset(`${prefix}key:${made.record.id}`, { createdAt, expiresAt });

  receiver.answer(() => undefined);
  for (let sent = 0; sent < 6; sent++) await webhooks.outbox.emit(webhooks.batchEvent());
  smtp.answers.push('hang');
  await jobs.add({ queue: 'scheduled', id: 'now-1', data: { work: 'keys' } });
  // Four at once of one webhook.
  await until(() => receiver.messages.length === 4 && smtp.mails.length === 1);
  await runner.kill();
  receiver.answer((response) => response.writeHead(204).end());
  const another = await cluster.addBatchRunner(settings);
  await jobs.add({ queue: 'scheduled', id: 'now-2', data: { work: 'keys' } });
  const delivered = () => webhooks.deliveries.list(endpoint.id, { state: 'delivered', limit: 9 });
  await until(async () => (await delivered()).length === 6 && smtp.mails.length === 2, 90_000);

  const ids = receiver.messages.map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(10);
  expect(new Set(ids).size).toBe(6);
  const client = new OpenAI({ apiKey: 'none' });
  for (const { body, headers } of receiver.messages) await client.webhooks.unwrap(body, headers, secret);

  expect(new Set(smtp.mails.map(({ headers }) => headers.get('message-id'))).size).toBe(1);
  for (const { to, text } of smtp.mails) {
    expect(to).toEqual(['bob@example.com']);
    expect(text).toMatch(/^https:\/\/llm\.example\.com\/keys\r?$/m);
  }
  const admin = await adminOf(another);
  const metrics = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text();
  await until(async () => expect(await metrics()).toContain('rtr_alert_mail_attempts_total{outcome="sent"} 1'));
  await until(async () => expect(await metrics()).toContain('rtr_alert_mails_waiting 0'));
});

it('a runner with a mail server and without a sender does not start, and says why', async () => {
  await expect(cluster.addBatchRunner({ SMTP_URL: 'smtp://127.0.0.1:1' })).rejects.toThrow(/MAIL_FROM/);
});
