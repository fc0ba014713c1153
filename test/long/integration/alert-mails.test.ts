import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createLog } from '#shared/core/log.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { shareCluster } from '../../helpers/cluster/share-cluster.ts';
import type { Cluster } from '../../helpers/cluster/start-cluster.ts';
import { startSmtp } from '../../helpers/mail/start-smtp.ts';
import { until } from '../../helpers/until.ts';

const dayMs = 24 * 3_600_000;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await shareCluster();
});
afterAll(() => cluster.stop());

it('an alert by e-mail whose runner is killed in the middle is sent by another one, with the Message-ID that it had', async () => {
  const smtp = await startSmtp();
  const { connection, prefix, store } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
  const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
  const jobs = new BackgroundJobs({ url: inject('redisUrl'), prefix, log });
  onTestFinished(() => jobs.close());
  const settings = {
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    MAIL_FROM: 'Model Router <router@example.com>',
    PUBLIC_URL: 'https://llm.example.com',
  };
  const runner = await cluster.addBatchRunner(settings);
  await connection.redis.hset(`${prefix}user:bob`, {
    id: 'bob',
    name: 'Bob',
    email: 'bob@example.com',
    role: 'member',
  });
  const made = await createOwnedKey(store, { kind: 'user', ownerId: 'bob', class: 'normal', name: 'laptop' });
  if (typeof made === 'string') throw new Error(made);
  const [createdAt, expiresAt] = [Date.now() - 30 * dayMs, Date.now() + 3 * dayMs];
  await connection.redis.hset(`${prefix}key:${made.record.id}`, { createdAt, expiresAt });

  smtp.answers.push('hang');
  await jobs.add({ queue: 'scheduled', id: 'now-1', data: { work: 'keys' } });
  await until(() => smtp.mails.length === 1);
  await runner.kill();
  const another = await cluster.addBatchRunner({ ...settings, ADMIN_PORT: '0' });
  await jobs.add({ queue: 'scheduled', id: 'now-2', data: { work: 'keys' } });
  await until(() => smtp.mails.length === 2, 90_000);
  const ids = smtp.mails.map(({ headers }) => headers.get('message-id'));
  expect(new Set(ids).size).toBe(1);
  for (const { to, text } of smtp.mails) {
    expect(to).toEqual(['bob@example.com']);
    expect(text).toMatch(/^https:\/\/llm\.example\.com\/keys\r?$/m);
  }
  const { admin } = await another.line('the admin port is open');
  const metrics = async (): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${(admin as { port: number }).port}/metrics`);
    return answer.text();
  };
  await until(async () => (await metrics()).includes('rtr_alert_mail_attempts_total{outcome="sent"} 1'));
  await until(async () => expect(await metrics()).toContain('rtr_alert_mails_waiting 0'));
});

it('a runner with a mail server and without a sender does not start, and says why', async () => {
  await expect(cluster.addBatchRunner({ SMTP_URL: 'smtp://127.0.0.1:1' })).rejects.toThrow(/MAIL_FROM/);
});
