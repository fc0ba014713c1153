import { afterAll, beforeAll, expect, it } from 'vitest';
import { openAccounts, type Accounts } from '#shared/accounts/accounts.ts';
import { connectRedis, type RedisConnection } from '#shared/accounts/redis/connect-redis.ts';
import { createLog } from '#shared/core/log.ts';
import { inject } from 'vitest';
import { AdminClient } from '../../helpers/console/admin-client.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';

const people = 1_000;
const keysPerPerson = 10;

let cluster: Cluster;
let connection: RedisConnection;
let accounts: Accounts;
let ada: ConsoleClient;
let api: AdminClient;

beforeAll(async () => {
  cluster = await startCluster({ workers: 0, engineUrl: 'http://127.0.0.1:1' });
  connection = connectRedis(inject('redisUrl'), {
    log: createLog({ service: 'test', level: 'fatal', format: 'json' }),
    name: 'test',
  });
  await connection.whenReady(AbortSignal.timeout(5_000));
  accounts = openAccounts(connection.redis, `${cluster.prefix}:`);
  ({ client: ada } = await firstAdministrator(cluster));
  const { body } = await ada.post('/tokens', { name: 'test', scopes: ['admin'] });
  api = new AdminClient(cluster.url, String(body.raw));
  for (let hundred = 0; hundred < people / 100; hundred += 1) {
    await Promise.all(Array.from({ length: 100 }, (_, at) => makePerson(hundred * 100 + at)));
  }
}, 300_000);

afterAll(async () => {
  connection?.close();
  await cluster?.stop();
});

async function makePerson(number: number): Promise<void> {
  const user = await accounts.users.create({
    name: `Person ${number}`,
    email: `person-${number}@example.com`,
    role: 'member',
    limits: { costPerMonth: 10 },
  });
  if (typeof user === 'string') throw new Error(user);
  for (let count = 0; count < keysPerPerson; count += 1) {
    const id = `${String(number).padStart(6, '0')}${String(count).padStart(6, '0')}`;
    const record = {
      id,
      name: `key ${count}`,
      class: 'normal',
      hash: 'x',
      firstFour: 'aaaa',
      lastFour: 'bbbb',
    } as const;
    await accounts.keys.create({ ...record, kind: 'user', ownerId: user.id, createdAt: Date.now() });
  }
}

/** The median of five, in milliseconds, and what was answered. */
async function timed<T>(ask: () => Promise<T>): Promise<{ ms: number; answer: T }> {
  const times: number[] = [];
  let answer = await ask();
  for (let round = 0; round < 5; round += 1) {
    const begun = performance.now();
    answer = await ask();
    times.push(performance.now() - begun);
  }
  return { ms: times.toSorted((one, other) => one - other)[2] ?? 0, answer };
}

it('10,000 keys and 1,000 people stay fast', { timeout: 120_000 }, async () => {
  const measure = async (name: string, mostMs: number, ask: () => Promise<{ status: number }>): Promise<void> => {
    const { ms, answer } = await timed(ask);
    expect([name, answer.status < 300]).toEqual([name, true]);
    expect(ms, name).toBeLessThan(mostMs);
  };
  const [{ id }] = (await api.get('/users?email=person-500@example.com')).body.data;
  let number = 0;
  await measure('a page of keys', 250, () => api.get('/keys?limit=100'));
  await measure('a page of keys in the middle', 250, () => api.get(`/keys?limit=100&cursor=${placeOf(5_000)}`));
  await measure('the keys of a person', 100, () => api.get(`/keys?owner=${id}`));
  await measure('a page of people', 400, () => api.get('/users?limit=100'));
  await measure('a person by address', 100, () => api.get('/users?email=person-999@example.com'));
  await measure('a new key', 250, () => api.post('/keys', { kind: 'user', userId: id, name: `new ${number++}` }));
  await measure('a key by name', 250, () => api.put('/keys-by-name/named', { kind: 'user', userId: id }));
  await measure('a router key by name', 1_500, () => api.put('/keys-by-name/named', { kind: 'router' }));
  await measure('a change of a person', 200, () => api.patch(`/users/${id}`, { weight: 1 + (number++ % 9) }));
  await measure('all keys, for the page', 2_500, () => ada.get('/keys'));
  await measure('all people, for the page', 400, () => ada.get('/users'));
  let seen = 0;
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { body } = await api.get(`/keys?limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`);
    seen += body.data.length;
    cursor = body.next;
  }
  expect(seen).toBeGreaterThanOrEqual(people * keysPerPerson);

  function placeOf(at: number): string {
    return `${String(Date.now() - 60_000).padStart(16, '0')}.${String(at)}`;
  }
});
