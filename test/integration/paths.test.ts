import { afterAll, beforeAll, expect, it } from 'vitest';
import { AdminClient } from '../helpers/console/admin-client.ts';
import { ConsoleClient } from '../helpers/console/console-client.ts';
import { goodPassword } from '../helpers/console/open-console.ts';
import { firstLinkToken } from '../helpers/console/start-console.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';

let cluster: Cluster;
let ada: ConsoleClient;
let api: AdminClient;
beforeAll(async () => {
  cluster = await startCluster();
  ada = new ConsoleClient(cluster.url);
  const person = { name: 'Ada', email: 'ada@example.com', password: goodPassword };
  await ada.post(`/links/${await firstLinkToken(cluster.prefix)}`, person);
  const { body } = await ada.post('/tokens', { name: 'test', scopes: ['admin'] });
  api = new AdminClient(cluster.url, String(body.raw));
});
afterAll(() => cluster.stop());

/** The statuses of a path and of how else it may be written. */
async function statuses(path: string, headers: Record<string, string>): Promise<Record<string, number>> {
  const segments = path.split('/').filter((segment) => segment !== '');
  const written = segments.map((segment, at) => `/${segments.with(at, segment.toUpperCase()).join('/')}`);
  const asked = new Set([path, ...written]);
  const answers = [...asked].map(async (each) => {
    const answer = await fetch(`${cluster.url}${each}`, { headers });
    await answer.arrayBuffer();
    return [each, answer.status] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

function onlyAsWritten(path: string, all: Record<string, number>): void {
  const { [path]: asWritten, ...others } = all;
  expect([path, asWritten]).not.toEqual([path, 404]);
  expect(others).toEqual(Object.fromEntries(Object.keys(others).map((each) => [each, 404])));
}

it('serves paths of the Admin API as they are written alone, so that the rules of a proxy hold for all that is served', async () => {
  const { body } = await api.get('/openapi.json');
  const found = Object.entries(body.paths as Record<string, { get?: { parameters?: { required?: boolean }[] } }>)
    .filter(([, { get }]) => get && !get.parameters?.some(({ required }) => required))
    .map(([path]) => path);
  expect(found.length).toBeGreaterThan(10);
  for (const path of [...found, '/openapi.json', '/docs']) {
    const whole = `/api/admin/v1${path}`;
    onlyAsWritten(whole, await statuses(whole, { authorization: `Bearer ${api.token}` }));
  }
});

it.each(['/console/api/session', '/console/api/sessions', '/console/api/users', '/console/api/connections'])(
  'serves %s as it is written alone',
  async (path) => {
    onlyAsWritten(path, await statuses(path, { cookie: ada.cookie ?? '' }));
  },
);

it.each([
  '/api/openai/v1/models',
  '/api/anthropic/v1/models',
  '/api/openai/v1/health',
  '/api/tools/v1/list',
  '/health',
])('serves %s as it is written alone', async (path) => {
  onlyAsWritten(path, await statuses(path, { authorization: `Bearer ${cluster.key}` }));
});
