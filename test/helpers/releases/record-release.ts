/**
 * Records the data of a release, for test/integration/recorded-release.test.ts: `node test/helpers/releases/record-release.ts <folder>`. The
 * folder is a checkout of the release with its packages. Runs its services on servers of their own, does through its APIs and commands what
 * people and programs do, and writes what Redis and JetStream then hold to test/fixtures/releases, into a file named after the commit.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { chat, get, post } from '../clients/keyed-requests.ts';
import { AdminClient } from '../console/admin-client.ts';
import { setUpApp } from '../console/authenticator-app.ts';
import { ConsoleClient } from '../console/console-client.ts';
import { goodPassword as password } from '../console/good-password.ts';
import { makeKey } from '../console/make-key.ts';
import { inviteToConsole, joinConsole } from '../console/open-as.ts';
import { softwarePasskey } from '../console/software-passkey.ts';
import { startProcess, type ServiceProcess } from '../processes/start-process.ts';
import { startLocalServer } from '../servers/local-server.ts';
import { notesUrl, startNotesMcp } from '../upstreams/start-notes-mcp.ts';
import { until } from '../until.ts';
import { copyStores, writeRelease, type RecordedFacts } from './recorded-release.ts';

const [release] = process.argv.slice(2);
if (release === undefined) throw new Error('name the folder of a release');
const folder = resolve(release);
const commit = execFileSync('git', ['-C', folder, 'rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim();

const prefix = 'recorded';
const publicUrl = 'https://llm.example.com';
const settings = { PUBLIC_URL: publicUrl, SEAL_SECRET: randomBytes(32).toString('hex') };
const registryText = 'models:\n  storyteller:\n    targets: [{ model: demo, tier: gpu }]\n';

const temporary = mkdtempSync(join(tmpdir(), 'rtr-record-'));
const linkedRegistry = join(temporary, 'registry.yaml');
writeFileSync(linkedRegistry, JSON.stringify({ mcpServers: { notes: { url: notesUrl, auth: 'oauth' } } }));

const [redisServer, nats, notes] = await Promise.all([
  startLocalServer('redis'),
  startLocalServer('nats'),
  startNotesMcp(),
]);
const redis = new Redis(redisServer.url);
const started: ServiceProcess[] = [];
/** The months that have this day and the next. */
const period = `from=${Date.now()}&to=${Date.now() + 86_400_000}&step=month`;
const common = {
  NATS_URL: nats.url,
  REDIS_URL: redisServer.url,
  RTR_PREFIX: prefix,
  FILES_MAX_BYTES: String(64 * 1024 * 1024),
};

function launch(service: string, environment: Record<string, string>): ServiceProcess {
  const launched = startProcess(join(folder, `services/${service}/main.ts`), { ...common, ...environment });
  started.push(launched);
  return launched;
}

async function startIngress(environment: Record<string, string> = {}): Promise<string> {
  const nodeSettings = { PORT: '0', ADMIN_PORT: '0', LEAVE_MS: '0', OAUTH_NETWORKS: '127.0.0.1' };
  const { address } = await launch('ingress', { ...nodeSettings, ...settings, ...environment }).line(
    'ingress is ready',
  );
  return `http://127.0.0.1:${(address as AddressInfo).port}`;
}

/** Runs a command of the release, and returns the object that it prints. */
function rtr(...words: string[]): Record<string, unknown> {
  const output = execFileSync(process.execPath, [join(folder, 'services/rtr/main.ts'), ...words, '--json'], {
    encoding: 'utf8',
    env: { ...process.env, ...common, RTR_URL: url },
  });
  return JSON.parse(output) as Record<string, unknown>;
}

const { url: engineUrl } = await launch('demo-engine', { PORT: '0', DEMO_OPTIONS: 'rate=0' }).line(
  'demo engine is ready',
);
// Links are sealed by the secret in Redis, everything else by the operator's.
const [url, linkingUrl] = await Promise.all([
  startIngress(),
  startIngress({ ROUTER_CONFIG: linkedRegistry, SEAL_SECRET: '' }),
]);
launch('gpu-worker', { ENGINE_URL: String(engineUrl) });
launch('tools-worker', { ROUTER_CONFIG: linkedRegistry });
launch('batch-runner', { SEAL_SECRET: settings.SEAL_SECRET });

const admin = rtr('admin', 'link');
const ada = await joinConsole(new ConsoleClient(url), String(admin['link']), 'Ada');
const grace = await inviteToConsole(ada, 'Grace');

const team = await expectStatus(ada.client.post('/teams', { name: 'Blue' }), 201);
await expectStatus(ada.client.put(`/teams/${team.id}/members/${grace.id}`, { role: 'owner' }), 200);
await expectStatus(ada.client.put('/prices/demo', { input: 2, output: 10 }), 200);
await expectStatus(ada.client.put('/registry', { text: registryText, basedOn: 0, note: 'a name' }), 200);
const ceiling = { models: ['storyteller'], tiers: ['gpu', 'tools'], maxClass: 'normal' };
const ofGrace = { limits: { costPerDay: 5 }, weight: 2, ceiling };
await expectStatus(ada.client.patch(`/users/${grace.id}`, ofGrace), 200);
await expectStatus(ada.client.patch(`/teams/${team.id}`, { limits: { costPerMonth: 20 } }), 200);
const newMembers = { limits: { requestsPerMinute: 60 }, ceiling: {} };
await expectStatus(ada.client.patch('/settings', { invitationDays: 3, auditDays: 3_650, newMembers }), 200);
const token = await expectStatus(
  ada.client.post('/tokens', { name: 'ci', scopes: ['admin'], expiresInDays: 366 }),
  201,
);

const keys = {
  grace: await makeKey(grace.client, { models: ['storyteller'], tiers: ['gpu', 'tools'], class: 'low', weight: 3 }),
  team: await makeKey(grace.client, { kind: 'team', teamId: team.id, limits: { tokensPerMonth: 2_000 } }),
  router: await makeKey(ada.client, { kind: 'router' }),
};
await until(async () => (await ask(keys.router.raw, 'storyteller', 10)) === 200);
for (const [key, tokens] of [
  [keys.grace, 100],
  [keys.grace, 50],
  [keys.team, 1_500],
] as const) {
  const status = await ask(key.raw, 'storyteller', tokens);
  if (status !== 200) throw new Error(`a request failed with ${status}`);
}

const content = Array.from({ length: 200 }, (_, line) => `Line ${line} of Grace's notes\n`).join('');
const form = new FormData();
form.set('purpose', 'user_data');
form.set('file', new Blob([content]), 'notes.txt');
const uploaded = await post({ url, key: keys.grace.raw, path: '/openai/v1/files', body: form });
const file = (await uploaded.json()) as { id: string };
if (!uploaded.ok) throw new Error(`no file: ${JSON.stringify(file)}`);

const hook = { kind: 'user', url: 'https://hooks.example.com/in', events: ['batch.*'] };
const webhook = await expectStatus(grace.client.post('/webhooks', hook), 201);

await linkAccount();
const app = await setUpApp(grace.client);
const passkey = softwarePasskey(publicUrl);
const options = await expectStatus(grace.client.post('/second-factor/passkeys/options', { password }), 200);
const response = passkey.register(options.challenge);
await expectStatus(grace.client.post('/second-factor/passkeys', { name: 'laptop', response }), 200);

const program = new AdminClient(url, token.raw);
await until(async () => (await expectStatus(program.get(`/usage?${period}&by=model`), 200)).totals.requests >= 5);
const usagePaths = ['model', 'key', 'team', 'user', 'tier'].map((by) => `/usage?${period}&by=${by}`);
const paths = ['/users', '/teams', '/keys', '/settings', '/prices?limit=200', '/registry', '/registry/versions'];
paths.push(...usagePaths, '/usage/now', '/tokens', '/webhooks', '/audit');
const answers: RecordedFacts['answers'] = {};
for (const path of paths) answers[path] = await expectStatus(program.get(path), 200);

await Promise.all(started.map((each) => each.stop()));
const person = ({ id, email }: { id: string; email: string }) => ({ id, email, password });
const facts: RecordedFacts = {
  recordedAt: Date.now(),
  prefix,
  settings,
  people: { ada: person(ada), grace: person(grace) },
  app,
  passkey: passkey.store(),
  team: { id: team.id, name: 'Blue' },
  keys,
  token: { id: token.token.id, raw: token.raw },
  answers,
  file: { id: file.id, name: 'notes.txt', content },
  webhook: { id: webhook.webhook.id, url: hook.url, secret: webhook.secret },
};
writeRelease(commit, { facts, ...(await copyStores(redis, nats.url, prefix)) });
await redis.quit();
await Promise.all([redisServer.stop(), nats.stop(), notes.close()]);
rmSync(temporary, { recursive: true });
process.exit(0);

// oxlint-disable-next-line typescript/no-explicit-any -- the recording reads bodies of another release
async function expectStatus(asking: ReturnType<ConsoleClient['get']>, wanted: number): Promise<any> {
  const { status, body } = await asking;
  if (status !== wanted) throw new Error(`${status} instead of ${wanted}: ${JSON.stringify(body)}`);
  return body;
}

/** Asks for an answer of this number of tokens, and returns the status. */
async function ask(key: string, model: string, tokens: number): Promise<number> {
  const fields = { model, max_tokens: tokens };
  const answer = await post({ url, key, body: chat(`tokens=${tokens}`, fields) });
  await answer.text();
  return answer.status;
}

/** Links Grace's account at the MCP server, and calls a tool of it. */
async function linkAccount(): Promise<void> {
  const client = grace.client.at(linkingUrl);
  const { url: page } = await expectStatus(client.post('/connections/notes'), 200);
  const state = new URL(String(page)).searchParams.get('state');
  await expectStatus(client.post('/connections', { state, code: 'grace' }), 200);
  await until(async () =>
    (await (await get({ url: linkingUrl, key: keys.grace.raw }, '/tools/v1/list')).text()).includes('notes_whoami'),
  );
}
