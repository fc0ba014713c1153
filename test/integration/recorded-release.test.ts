import { createHmac } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { FileRecords } from '#shared/accounts/files/file-records.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { JetStreamObjects } from '#shared/broker/objects/jetstream-objects.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { fileSettings } from '#shared/files/file-settings.ts';
import { openFiles } from '#shared/files/open-files.ts';
import { chat, get, post } from '../helpers/clients/keyed-requests.ts';
import { withRegistry } from '../helpers/cluster/with-registry.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { AdminClient } from '../helpers/console/admin-client.ts';
import { codeOf } from '../helpers/console/authenticator-app.ts';
import { ConsoleClient } from '../helpers/console/console-client.ts';
import { softwarePasskey } from '../helpers/console/software-passkey.ts';
import { copyStores, readRelease, restoreStores } from '../helpers/releases/recorded-release.ts';
import { notesUrl, startNotesMcp } from '../helpers/upstreams/start-notes-mcp.ts';
import { silentLog as log } from '../helpers/silent-log.ts';
import { useStarted } from '../helpers/use-started.ts';
import { startReceiver } from '../helpers/webhooks/start-receiver.ts';
import { until } from '../helpers/until.ts';

const release = readRelease('749cca7a');
const { prefix, settings, people, keys, team, app, file, webhook, token, answers } = release.facts;

/** The recovery codes that no test has used. */
const codes = [...app.codes];

const secondSteps: Record<string, (challenge: string) => object> = {
  'a code of the app': () => ({ code: codeOf(app.secret) }),
  'a recovery code': () => ({ code: codes.shift() }),
  'the passkey': (challenge) => ({ passkey: passkey.answer(challenge) }),
};

let redis: Redis;
let cluster: Cluster;
/** An ingress whose registry has the MCP server, and whose secret is that in Redis. */
let linking: string;
let ada: ConsoleClient;
/** What the Admin API answered, by path, before the first request of this cluster. */
const presentAnswers: Record<string, unknown> = {};

useStarted(() => startNotesMcp());
const passkey = softwarePasskey(String(settings['PUBLIC_URL']), release.facts.passkey);
beforeAll(async () => {
  redis = new Redis(inject('redisUrl'));
  await restoreStores(release, redis, inject('natsUrl'));
  cluster = await startCluster({ prefix, ingress: { ...settings, OAUTH_NETWORKS: '127.0.0.1' } });
  const program = new AdminClient(cluster.url, token.raw);
  for (const path of Object.keys(answers)) presentAnswers[path] = (await program.get(path)).body;
  ada = new ConsoleClient(cluster.url);
  await ada.signIn(people.ada.email, people.ada.password);
  const registry = withRegistry(JSON.stringify({ mcpServers: { notes: { url: notesUrl, auth: 'oauth' } } }));
  const { SEAL_SECRET = '' } = settings;
  const [{ url }] = await Promise.all([
    cluster.addIngress({ ...registry, SEAL_SECRET: '' }),
    cluster.addToolsWorker(registry),
    cluster.addBatchRunner({ SEAL_SECRET, WEBHOOK_NETWORKS: '127.0.0.1' }),
  ]);
  linking = url;
});

afterAll(async () => {
  await cluster?.stop();
  await redis?.quit();
});

/** Signs Grace in with her password and a second step. */
async function signInGrace(kind: keyof typeof secondSteps) {
  const grace = new ConsoleClient(cluster.url);
  const { email, password } = people.grace;
  expect((await grace.signIn(email, password)).body).toEqual({ secondStep: { app: true, passkeys: true } });
  const { body } = await grace.post('/session/second/passkey');
  return { grace, answer: await grace.post('/session/second', secondSteps[kind]?.(String(body.challenge))) };
}

/** Asks for an answer of this number of tokens, and returns the status. */
async function ask(key: string, tokens: number, model = 'storyteller'): Promise<number> {
  const answer = await post({
    url: cluster.url,
    key,
    body: chat(`tokens=${tokens}`, { model, max_tokens: tokens }),
  });
  await answer.text();
  return answer.status;
}

function readFile(): Promise<Response> {
  return get({ url: cluster.url, key: keys.grace.raw }, `/openai/v1/files/${file.id}/content`);
}

/** Removes the content of deleted files, as each ingress does once a minute. */
async function sweepFiles(): Promise<void> {
  const broker = await connectBroker({ url: inject('natsUrl'), name: 'test', prefix, log });
  try {
    const fileConfig = loadConfig(z.object(fileSettings), {});
    const { files } = await openFiles({
      settings: fileConfig,
      prefix,
      openRecords: (bounds) => new FileRecords(redis, `${prefix}:`, { bounds, report: () => undefined }),
      // The size of the stream that all clusters of tests have.
      objects: new JetStreamObjects(broker, 512 * 1024 * 1024, log),
      secrets: [Buffer.from(settings['SEAL_SECRET'] ?? '', 'hex')],
      log,
    });
    await files.sweep();
  } finally {
    await broker.close();
  }
}

/**
 * Returns an answer without the key that the cluster was started with, without prices that a release ships, and without what depends on
 * the present day: the ends of months and tokens, and the last uses.
 */
function toComparable(answer: unknown): unknown {
  const text = JSON.stringify(answer, (name, value: unknown) => {
    if (/^(?:resets|expires|lastUsed)At$/.test(name)) return undefined;
    return Array.isArray(value)
      ? value.filter((each) => each?.id !== cluster.keyId && each?.source !== 'shipped')
      : value;
  });
  return JSON.parse(text);
}

describe('a cluster on the data of an earlier release', () => {
  it.each(Object.keys(secondSteps))('signs people in with the password, and with %s', async (kind) => {
    const { answer } = await signInGrace(kind);
    expect(answer).toMatchObject({ status: 200, body: { user: { id: people.grace.id, name: 'Grace' } } });
  });

  it('refuses wrong passwords and codes', async () => {
    const grace = new ConsoleClient(cluster.url);
    expect(await grace.signIn(people.grace.email, 'another-password')).toMatchObject({ status: 401 });
    await grace.signIn(people.grace.email, people.grace.password);
    expect(await grace.post('/session/second', { code: '000000' })).toMatchObject({ status: 401 });
  });

  it('answers programs with an admin token as the release did', () => {
    for (const [path, body] of Object.entries(answers))
      expect({ path, body: toComparable(presentAnswers[path]) }).toMatchObject({ path, body: toComparable(body) });
    expect(JSON.stringify(answers)).toContain('"completionTokens":1500');
  });

  it('refuses what exceeds a limit with the use before', async () => {
    expect(await ask(keys.team.raw, 1_000)).toBe(429);
    expect(await ask(keys.team.raw, 10)).toBe(200);
  });

  it('serves requests with the keys, by the name in the registry, and refuses other keys and models', async () => {
    expect(await ask(keys.grace.raw, 10)).toBe(200);
    expect(await ask(keys.router.raw, 10)).toBe(200);
    expect(await ask(keys.grace.raw, 10, 'demo')).toBe(403);
    expect(await ask(keys.router.raw.replace(/.$/, '_'), 10)).toBe(401);
  });

  it('has the file with its content', async () => {
    const answer = await readFile();
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: file.content });
    const list = await get({ url: cluster.url, key: keys.grace.raw }, '/openai/v1/files');
    const bytes = Buffer.byteLength(file.content);
    expect(await list.json()).toMatchObject({ data: [{ id: file.id, filename: file.name, bytes }] });
  });

  it('calls the MCP server as the person who linked an account', async () => {
    const { grace } = await signInGrace('a recovery code');
    expect((await grace.at(linking).get('/connections')).body).toMatchObject([{ server: 'notes', state: 'connected' }]);
    const body = { tool: 'notes_whoami', input: {} };
    const answer = await post({ url: linking, key: keys.grace.raw, path: '/tools/v1/execute', body });
    expect(await answer.json()).toMatchObject({ content: [{ type: 'text', text: 'grace' }] });
  });

  it('signs events with the secret of the webhook', async () => {
    const receiver = await startReceiver();
    expect((await ada.get('/webhooks')).body).toMatchObject([
      { id: webhook.id, url: webhook.url, events: ['batch.*'], owner: { id: people.grace.id }, enabled: true },
    ]);
    expect(await ada.patch(`/webhooks/${webhook.id}`, { url: receiver.url })).toMatchObject({ status: 200 });
    expect(await ada.post(`/webhooks/${webhook.id}/test`)).toMatchObject({ status: 202 });
    await until(() => receiver.messages.length === 1);
    const [message] = receiver.messages;
    const headers = message?.headers ?? {};
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${message?.body}`;
    const hmac = createHmac('sha256', Buffer.from(webhook.secret.replace('whsec_', ''), 'base64'));
    expect(headers['webhook-signature']).toBe(`v1,${hmac.update(signed).digest('base64')}`);
  });

  it('deletes a person with everything that they own', async () => {
    expect(await ada.delete(`/users/${people.grace.id}`)).toMatchObject({ status: 204 });
    await until(async () => (await ask(keys.grace.raw, 10)) === 401);
    const { email, password } = people.grace;
    expect(await new ConsoleClient(cluster.url).signIn(email, password)).toMatchObject({ status: 401 });
    expect((await ada.get('/webhooks')).body).toEqual([]);
    expect((await ada.get(`/teams/${team.id}`)).body).toMatchObject({ members: [] });
    await sweepFiles();
    const { values, streams } = await copyStores(redis, inject('natsUrl'), prefix);
    const lasting = values.flatMap(([name, expiresInMs]) => (expiresInMs === -1 ? [name] : []));
    expect(lasting.filter((name) => name.includes(people.grace.id))).toEqual([]);
    expect(streams).toMatchObject([{ messages: [] }]);
    // The trail keeps the address of an invitation.
    expect(JSON.stringify((await ada.get('/audit?limit=200')).body)).not.toContain('"Grace"');
  });
});
