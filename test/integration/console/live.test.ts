import { beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import type { Overview } from '#services/console/contract/live.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { listenLive } from '../../helpers/console/listen-live.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';
import { makeKey } from '../../helpers/console/make-key.ts';
import { inviteToConsole } from '../../helpers/console/open-as.ts';
import { startQuotingEngine } from '../../helpers/upstreams/start-quoting-engine.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

let other: Awaited<ReturnType<Cluster['addIngress']>>;
let admin: ConsoleClient;

const cluster = useStarted(() => startCluster());
beforeAll(async () => {
  other = await cluster.addIngress({ DRAIN_MS: '20000' });
  ({ client: admin } = await firstAdministrator(cluster));
});

async function ask(url: string): Promise<void> {
  const body = { model: 'demo', messages: [{ role: 'user', content: 'Hello!' }] };
  const answer = await post({ ...cluster, url, body });
  expect(answer.status).toBe(200);
  await answer.text();
}

describe('the live feed', () => {
  it('needs a session', async () => {
    const { response } = await listenLive(new ConsoleClient(cluster.url));
    expect(response.status).toBe(401);
  });

  it('sends the current state at once, with the requests of all ingress nodes', async () => {
    const [here, there] = [await listenLive(admin), await listenLive(admin, other.url)];
    await until(() => here.news.workers?.length === 1 && there.news.overview !== undefined);
    expect(here.response.headers.get('cache-control')).toContain('no-store');
    expect(here.news.workers).toMatchObject([{ tier: 'gpu', models: ['demo'], state: 'serving', missedHeartbeats: 0 }]);
    expect(here.news.queue).toEqual([]);
    await Promise.all([ask(cluster.url), ask(cluster.url), ask(other.url)]);
    const sum = (overview: Overview | undefined) =>
      overview?.requestsPerSecond.reduce((total, value) => total + value, 0);
    await until(() => sum(here.news.overview) === 3 && sum(there.news.overview) === 3);
    expect(there.news.overview).toMatchObject({ servedByTier: { gpu: 3 }, activeStreams: 0 });
    expect(there.news.failures).toEqual([]);
    expect(there.news.overview?.firstTokenMs?.p50).toBeGreaterThan(0);
  });

  it('limits the streams of one person in all sessions, and accepts a new one when a page closes', async () => {
    const sessions = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const session = new ConsoleClient(cluster.url);
        expect((await session.signIn('ada@example.com', goodPassword)).status).toBe(200);
        return session;
      }),
    );
    const pages = await Promise.all(
      sessions.flatMap((session) => Array.from({ length: 8 }, () => listenLive(session))),
    );
    expect(pages.map(({ response }) => response.status)).toEqual(Array.from({ length: 24 }, () => 200));
    const refused = await listenLive(admin);
    expect([refused.response.status, refused.response.headers.get('retry-after')]).toEqual([429, '5']);
    const { client: grace } = await inviteToConsole({ client: admin }, 'Grace');
    expect((await listenLive(grace)).response.status).toBe(200);
    pages[0]?.leave();
    await until(async () => (await listenLive(admin)).response.status === 200);
  });

  it('ends with the session, also if that ended at another ingress', async () => {
    const page = new ConsoleClient(other.url);
    expect((await page.signIn('ada@example.com', goodPassword)).status).toBe(200);
    const { news, isOver } = await listenLive(page);
    await until(() => news.workers !== undefined);
    expect((await page.delete('/session')).status).toBe(204);
    await until(isOver);
  });
});

describe('a worker', () => {
  const worker = () => String(cluster.ingress.lines.find(({ msg }) => msg === 'worker joined')?.['worker']);

  it('is drained and undrained, and the answer waits for its new state', async () => {
    const drained = await admin.post(`/workers/${worker()}/drain`);
    expect(drained).toMatchObject({ status: 200, body: { id: worker(), state: 'draining' } });
    expect(await admin.post(`/workers/${worker()}/undrain`)).toMatchObject({ status: 200, body: { state: 'serving' } });
    await ask(cluster.url);
    const { data } = (await admin.get('/audit')).body;
    expect(data[0]).toMatchObject({ action: 'worker.undrain', target: { id: worker() }, actor: { name: 'Ada' } });
  });

  it('is not drained without the CSRF token, by an unknown name, or by a member', async () => {
    const path = `/workers/${worker()}/drain`;
    expect((await admin.ask('POST', path, {}, { 'x-csrf-token': 'wrong' })).status).toBe(403);
    expect((await admin.post('/workers/nobody/drain')).status).toBe(404);
    expect((await admin.post('/workers/a.*.b/drain')).status).toBe(404);
    const { client: member } = await inviteToConsole({ client: admin }, 'Bob');
    expect((await member.post(path)).status).toBe(403);
    expect((await member.get('/models')).status).toBe(200);
  });
});

it('lists the models, and the formats with their paths', async () => {
  const sounds = ['speech', 'transcriptions', 'audio-translations'];
  const further = ['completions', 'embeddings', 'rerank', 'moderations', 'images', 'image-edits', ...sounds];
  const { body } = await admin.get('/models');
  expect(body).toMatchObject([{ id: 'auto' }, { id: 'demo', servedBy: [{ tier: 'gpu', workers: 1 }] }]);
  const about = (await admin.get('/about')).body;
  expect(about).toMatchObject({ managesCredentials: false, needsCredentials: false });
  expect(about.formats).toEqual([
    { name: 'chat', path: '/api/openai' },
    { name: 'messages', path: '/api/anthropic' },
    { name: 'responses', path: '/api/openai' },
    ...further.map((name) => ({ name, path: '/api/openai' })),
  ]);
});

const secret = 'zebra-diary-7f3';

const join = async (name: string, teamId: string) =>
  (await inviteToConsole({ client: admin }, name, { teamId })).client;

/** Sends a prompt that the engine rejects and quotes. Returns the id of the request. */
async function failWith(prompt: string, headers: Record<string, string>, url = cluster.url): Promise<string> {
  const body = JSON.stringify({ model: 'quoter', stream: true, messages: [{ role: 'user', content: prompt }] });
  const sent = { 'content-type': 'application/json', ...headers };
  const answer = await fetch(`${url}/api/openai/chat/completions`, { method: 'POST', headers: sent, body });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
}

/** Returns everything that a person can read through the console's API, as one text. */
async function readEverything(client: ConsoleClient): Promise<string> {
  const range = `from=${Date.now() - 60_000}&to=${Date.now() + 60_000}`;
  const paths = ['session', 'models', 'about', 'keys', 'users', 'teams', 'invitations', 'settings', 'audit', 'prices'];
  paths.push(`usage?${range}&step=day&by=key`, 'usage/requests', 'usage/now', `usage/export?${range}&format=json`);
  const answers = await Promise.all(paths.map((path) => client.get(`/${path}`)));
  return JSON.stringify(answers.map(({ body }) => body));
}

it('administrators see the code and place of every failure, members of their own, and nobody an upstream message', async () => {
  const engine = stopAfterTest(await startQuotingEngine());
  const quoting = stopAfterTest(await cluster.addWorker({ ENGINE_URL: engine.url, ENGINE_KIND: 'openai' }));
  const team = String((await admin.post('/teams', { name: 'Crew' })).body.id);
  const [bert, carol] = [await join('Bert', team), await join('Carol', team)];
  const pages = [await listenLive(admin), await listenLive(bert), await listenLive(carol)] as const;
  const elsewhere = await listenLive(bert, other.url);

  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const personal = bearer((await makeKey(bert)).raw);
  const ofTeam = await makeKey(admin, { kind: 'team', teamId: team });
  const session = { cookie: bert.cookie ?? '', 'x-csrf-token': bert.csrfToken ?? '' };
  const own = [
    await failWith(`400 ${secret}`, personal),
    await failWith(`500 ${secret}`, personal, other.url),
    await failWith(`event ${secret}`, session),
  ];
  const others = [
    await failWith(`400 ${secret}`, bearer(ofTeam.raw)),
    await failWith(`400 ${secret}`, bearer(cluster.key)),
  ];

  const [seenByAdmin, seenByBert, seenByCarol] = pages.map(({ news }) => news);
  const ids = (news = elsewhere.news) => news.failures?.map(({ requestId }) => requestId).sort();
  await until(() => ids(seenByAdmin)?.length === 5 && ids(seenByBert)?.length === 3 && ids()?.length === 3);
  expect(ids(seenByAdmin)).toEqual([...own, ...others].sort());
  expect(ids(seenByBert)).toEqual([...own].sort());
  expect(ids()).toEqual(ids(seenByBert));
  const codes = ['invalid_request', 'upstream_failed', 'upstream_failed'];
  expect(seenByBert?.failures?.map(({ code }) => code).sort()).toEqual(codes);
  const worker = String((await quoting.line('gpu-worker is ready'))['worker']);
  for (const failure of seenByAdmin?.failures ?? []) expect(failure).toMatchObject({ tier: 'gpu', worker });

  // Carol's page has the counts of the whole cluster, and no failure, because none of her requests has failed.
  await until(() => (seenByCarol?.overview?.errorsPerSecond ?? []).reduce((sum, count) => sum + count, 0) === 5);
  expect(seenByCarol?.failures).toEqual([]);

  await until(async () => (await admin.get('/usage/requests?outcome=failed')).body.requests.length === 5);
  for (const text of [...pages, elsewhere].map((page) => page.text())) expect(text).not.toContain(secret);
  for (const client of [admin, bert, carol]) expect(await readEverything(client)).not.toContain(secret);
  const logs = [cluster.ingress, ...cluster.workers].map(({ lines }) => JSON.stringify(lines));
  expect(logs.join('\n')).toContain(own[0]);
  expect(logs.join('\n')).not.toContain(secret);
});

it('an open live feed does not keep an ingress from stopping', async () => {
  const { news, isOver } = await listenLive(admin, other.url);
  await until(() => news.workers !== undefined);
  const begin = performance.now();
  expect(await other.process.stop()).toBe(0);
  // It would wait for other streams for twenty seconds.
  expect(performance.now() - begin).toBeLessThan(15_000);
  await until(isOver);
});
