import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { listenLive } from '../../helpers/console/listen-live.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';
import { inviteToConsole } from '../../helpers/console/open-as.ts';
import { until } from '../../helpers/until.ts';
import { startQuotingEngine, type QuotingEngine } from '../../helpers/upstreams/start-quoting-engine.ts';

const secret = 'zebra-diary-7f3';

let engine: QuotingEngine;
let cluster: Cluster;
let otherUrl: string;
let admin: ConsoleClient;

beforeAll(async () => {
  engine = await startQuotingEngine();
  cluster = await startCluster({ engineUrl: engine.url, worker: { ENGINE_KIND: 'openai' } });
  ({ url: otherUrl } = await cluster.addIngress());
  ({ client: admin } = await firstAdministrator(cluster));
}, 60_000);

afterAll(async () => {
  await cluster?.stop();
  engine?.stop();
});

async function join(name: string, teamId: string): Promise<ConsoleClient> {
  return (await inviteToConsole({ client: admin }, name, { teamId })).client;
}

async function makeKey(client: ConsoleClient, wanted: object): Promise<Record<string, string>> {
  const { status, body } = await client.post('/keys', { name: 'a key', ...wanted });
  if (status !== 201) throw new Error(`no key: ${JSON.stringify(body)}`);
  return { authorization: `Bearer ${body.raw}` };
}

/** Sends a prompt that the engine rejects and quotes. Returns the id of the request. */
async function failWith(prompt: string, headers: Record<string, string>, url = cluster.url): Promise<string> {
  const answer = await fetch(`${url}/api/openai/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'quoter', stream: true, messages: [{ role: 'user', content: prompt }] }),
  });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
}

/** All that a person can read through the console's API, as one text. */
async function readEverything(client: ConsoleClient): Promise<string> {
  const range = `from=${Date.now() - 60_000}&to=${Date.now() + 60_000}`;
  const paths = ['session', 'models', 'about', 'keys', 'users', 'teams', 'invitations', 'settings', 'audit', 'prices'];
  paths.push(`usage?${range}&step=day&by=key`, 'usage/requests', 'usage/now', `usage/export?${range}&format=json`);
  const answers = await Promise.all(paths.map((path) => client.get(`/${path}`)));
  return JSON.stringify(answers.map(({ body }) => body));
}

it('administrators see the code and place of every failure, members of their own, and no one an upstream message', async () => {
  const team = String((await admin.post('/teams', { name: 'Crew' })).body.id);
  const [bob, carol] = [await join('Bob', team), await join('Carol', team)];
  const pages = [await listenLive(admin), await listenLive(bob), await listenLive(carol)] as const;
  const elsewhere = await listenLive(bob, otherUrl);

  const personal = await makeKey(bob, { kind: 'user' });
  const session = { cookie: bob.cookie ?? '', 'x-csrf-token': bob.csrfToken ?? '' };
  const own = [
    await failWith(`400 ${secret}`, personal),
    await failWith(`500 ${secret}`, personal, otherUrl),
    await failWith(`event ${secret}`, session),
  ];
  const others = [
    await failWith(`400 ${secret}`, await makeKey(admin, { kind: 'team', teamId: team })),
    await failWith(`400 ${secret}`, { authorization: `Bearer ${cluster.key}` }),
  ];

  const [seenByAdmin, seenByBob, seenByCarol] = pages.map(({ news }) => news);
  const ids = (news = elsewhere.news) => news.failures?.map(({ requestId }) => requestId).sort();
  await until(() => ids(seenByAdmin)?.length === 5 && ids(seenByBob)?.length === 3 && ids()?.length === 3);
  expect(ids(seenByAdmin)).toEqual([...own, ...others].sort());
  expect(ids(seenByBob)).toEqual([...own].sort());
  expect(ids()).toEqual(ids(seenByBob));
  expect(seenByBob?.failures?.map(({ code }) => code).sort()).toEqual([
    'invalid_request',
    'upstream_failed',
    'upstream_failed',
  ]);
  const worker = String(cluster.ingress.lines.find(({ msg }) => msg === 'worker joined')?.['worker']);
  for (const failure of seenByAdmin?.failures ?? []) expect(failure).toMatchObject({ tier: 'gpu', worker });

  // Carol's page has the counts of the whole cluster, and no failure: none of her requests has failed.
  await until(() => (seenByCarol?.overview?.errorsPerSecond ?? []).reduce((sum, count) => sum + count, 0) === 5);
  expect(seenByCarol?.failures).toEqual([]);

  await until(async () => (await admin.get('/usage/requests')).body.requests.length === 5);
  for (const text of [...pages, elsewhere].map((page) => page.text())) expect(text).not.toContain(secret);
  for (const client of [admin, bob, carol]) expect(await readEverything(client)).not.toContain(secret);
  const logs = [cluster.ingress, ...cluster.workers].map(({ lines }) => JSON.stringify(lines));
  expect(logs.join('\n')).toContain(own[0]);
  expect(logs.join('\n')).not.toContain(secret);
});
