import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, inject, it, onTestFinished } from 'vitest';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { shareCluster } from '../../helpers/cluster/share-cluster.ts';
import { until } from '../../helpers/until.ts';

it('reservations of an ingress that is killed in the middle are free after a minute, and no earlier', async () => {
  const cluster = await shareCluster({ worker: { SLOTS: '8' } });
  onTestFinished(() => cluster.stop());
  const limits = { concurrentRequests: 8, tokensPerDay: 1_000_000 };
  const { process, url } = await cluster.addIngress();
  const { raw, id } = await cluster.addKey({ limits });
  const { connection } = await openKeyStore(inject('redisUrl'));
  const log = pino({ level: 'silent' });
  const keeper = new LimitKeeper(connection.redis, `${cluster.prefix}:`, log);
  const party = { party: `key:${id}` as const, limits };
  const use = async () => (await keeper.read([party]))[0];

  const long = { role: 'user', content: 'Hi!\n[demo tokens=9000 rate=20]' };
  // Kept, or their connections would be closed when the garbage is collected.
  const answers: Response[] = [];
  for (let count = 0; count < 8; count++) {
    const answer = await fetch(`${url}/api/openai/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'demo', stream: true, max_tokens: 9_000, messages: [long] }),
      headers: { authorization: `Bearer ${raw}`, 'content-type': 'application/json' },
    });
    answers.push(answer);
  }
  await until(async () => (await use())?.active === 8);
  // Reservations are renewed every twenty seconds: after that they outlast the minute in which they were made.
  await sleep(25_000);
  await process.kill();
  const killedAt = performance.now();
  expect((await use())?.active).toBe(8);
  await until(async () => (await use())?.active === 0, 65_000);
  expect(performance.now() - killedAt).toBeLessThan(61_000);
  expect(performance.now() - killedAt).toBeGreaterThan(38_000);
  expect((await use())?.day).toEqual({ spent: { tokens: 0, cost: 0 }, reserved: { tokens: 0, cost: 0 } });
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  await keeper.close();
});
