import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../helpers/batches/batch-clients.ts';
import { signInProgram } from '../helpers/clients/device-flow.ts';
import { get, post } from '../helpers/clients/keyed-requests.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import type { ConsoleClient } from '../helpers/console/console-client.ts';
import { makeKey } from '../helpers/console/make-key.ts';
import { newTeamOwner } from '../helpers/console/new-team-owner.ts';
import { until } from '../helpers/until.ts';

const denied = { error: { code: 'permission_denied' } };

let ada: ConsoleClient;
let bob: ConsoleClient;
let bobId: string;
let teamId: string;

const cluster = useCluster();
beforeAll(async () => {
  await Promise.all([cluster.addEngine({ DEMO_MODELS: 'demo-b' }), cluster.addBatchRunner()]);
  ({ ada, bob, bobId, teamId } = await newTeamOwner(cluster));
});

/** Sends a chat request, and returns the status and the router's message. */
async function ask(model: string, headers: Record<string, string>): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, max_tokens: 5, messages: [{ role: 'user', content: 'Hi.' }] }),
  });
  return { status: answer.status, body: await answer.json() };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const newKey = async (fields: object = {}) => (await makeKey(bob, fields)).raw;

/** Waits until an announced ceiling applies: far less than the 30 seconds for which an ingress remembers a key. */
const untilStatus = (model: string, way: Record<string, string>, status: number) =>
  until(async () => (await ask(model, way)).status === status, 10_000);

/** Sets a ceiling of Bob or his team for the rest of a test. */
async function cap(path: string, ceiling: object): Promise<void> {
  expect((await ada.patch(path, { ceiling })).status).toBe(200);
}

describe('a ceiling on models', () => {
  it('applies to keys, the playground, and signed-in programs soon, and its removal too', async () => {
    const key = await newKey();
    const { accessToken } = await signInProgram(cluster.url, bob);
    const playground = { cookie: bob.cookie ?? '', 'x-csrf-token': bob.csrfToken ?? '' };
    const ways = [bearer(key), bearer(accessToken), playground];
    for (const way of ways) expect((await ask('demo-b', way)).status).toBe(200);
    await cap(`/users/${bobId}`, { models: ['demo'] });
    for (const way of ways) {
      await untilStatus('demo-b', way, 403);
      expect(await ask('demo-b', way)).toMatchObject({ body: denied });
      expect((await ask('demo', way)).status).toBe(200);
      expect(await ask('auto', way)).toMatchObject({ status: 200, body: { model: 'demo' } });
    }
    // Also for a token that is created while the ceiling applies.
    const { accessToken: later } = await signInProgram(cluster.url, bob);
    expect((await ask('demo-b', bearer(later))).status).toBe(403);
    const { data } = await new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: key }).models.list();
    expect(data.map(({ id }) => id).toSorted()).toEqual(['auto', 'demo']);
    await cap(`/users/${bobId}`, {});
    for (const way of ways) await untilStatus('demo-b', way, 200);
  });

  it('of a team applies to its keys and to programs that use its account, and not to the person', async () => {
    const key = await newKey({ kind: 'team', teamId });
    const own = await newKey();
    const { accessToken } = await signInProgram(cluster.url, bob, teamId);
    await cap(`/teams/${teamId}`, { models: ['demo'] });
    for (const token of [key, accessToken]) await untilStatus('demo-b', bearer(token), 403);
    expect((await ask('demo-b', bearer(own))).status).toBe(200);
    // The ceilings of the person and of the team both apply.
    await cap(`/users/${bobId}`, { models: ['demo-b'] });
    await untilStatus('demo', bearer(accessToken), 403);
    expect((await ask('demo', bearer(key))).status).toBe(200);
    await cap(`/teams/${teamId}`, {});
    await cap(`/users/${bobId}`, {});
  });

  it('applies to each line of a batch', async () => {
    const key = await newKey();
    await untilStatus('demo-b', bearer(key), 200);
    const { openai } = batchClients({ ...cluster, key });
    await cap(`/users/${bobId}`, { models: ['demo'] });
    await untilStatus('demo-b', bearer(key), 403);
    const { id } = await submit(openai, [chatLine('allowed', 'Hi.'), chatLine('beyond', 'Hi.', { model: 'demo-b' })]);
    const batch = await untilBatch(openai, id);
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
    const [failed] = await resultsOf(openai, batch.error_file_id);
    expect(failed).toMatchObject({ custom_id: 'beyond' });
    expect(JSON.stringify(failed)).toContain('permission_denied');
    await cap(`/users/${bobId}`, {});
  });
});

describe('a ceiling on tiers', () => {
  it('without tools leaves no tools, by the tools API and by MCP', async () => {
    const key = await newKey();
    await cap(`/users/${bobId}`, { tiers: ['gpu'] });
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const headers = { accept: 'application/json, text/event-stream' };
    const initialize = () => post({ url: cluster.url, key, path: '/tools/mcp', body, headers });
    await until(async () => (await initialize()).status === 403, 10_000);
    expect((await get({ ...cluster, key }, '/tools/v1/list')).status).toBe(403);
    await cap(`/users/${bobId}`, { tiers: ['cloud'] });
    await until(async () => (await ask('demo', bearer(key))).status !== 200, 10_000);
    await cap(`/users/${bobId}`, {});
  });
});
