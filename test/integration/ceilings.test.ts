import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../helpers/batches/batch-clients.ts';
import { signInProgram } from '../helpers/clients/device-flow.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import type { ConsoleClient } from '../helpers/console/console-client.ts';
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

async function newKey(settings: object): Promise<string> {
  return String((await bob.post('/keys', { name: 'a key', class: 'normal', limits: {}, ...settings })).body.raw);
}

/** Sets a ceiling of Bob or his team for the rest of a test; it takes up to a second to reach every ingress. */
async function cap(path: string, ceiling: object): Promise<void> {
  expect((await ada.patch(path, { ceiling })).status).toBe(200);
}

describe('a ceiling on models', () => {
  it('applies to keys, the playground, and signed-in programs within a second, and its removal too', async () => {
    const key = await newKey({ kind: 'user' });
    const { accessToken } = await signInProgram(cluster.url, bob);
    const playground = { cookie: bob.cookie ?? '', 'x-csrf-token': bob.csrfToken ?? '' };
    const ways = [bearer(key), bearer(accessToken), playground];
    for (const way of ways) expect((await ask('demo-b', way)).status).toBe(200);
    await cap(`/users/${bobId}`, { models: ['demo'] });
    for (const way of ways) {
      await until(async () => (await ask('demo-b', way)).status === 403, 1_000);
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
    for (const way of ways) await until(async () => (await ask('demo-b', way)).status === 200, 1_000);
  });

  it('of a team applies to its keys and to programs that use its account, and not to the person', async () => {
    const key = await newKey({ kind: 'team', teamId });
    const own = await newKey({ kind: 'user' });
    const { accessToken } = await signInProgram(cluster.url, bob, teamId);
    await cap(`/teams/${teamId}`, { models: ['demo'] });
    for (const token of [key, accessToken]) {
      await until(async () => (await ask('demo-b', bearer(token))).status === 403, 1_000);
    }
    expect((await ask('demo-b', bearer(own))).status).toBe(200);
    // The ceilings of the person and of the team both apply.
    await cap(`/users/${bobId}`, { models: ['demo-b'] });
    await until(async () => (await ask('demo', bearer(accessToken))).status === 403, 1_000);
    expect((await ask('demo', bearer(key))).status).toBe(200);
    await cap(`/teams/${teamId}`, {});
    await cap(`/users/${bobId}`, {});
  });

  it('applies to each line of a batch', async () => {
    const key = await newKey({ kind: 'user' });
    await until(async () => (await ask('demo-b', bearer(key))).status === 200, 1_000);
    const { openai } = batchClients({ ...cluster, key });
    await cap(`/users/${bobId}`, { models: ['demo'] });
    await until(async () => (await ask('demo-b', bearer(key))).status === 403, 1_000);
    const allowed = chatLine('allowed', 'Hi.');
    const beyond = chatLine('beyond', 'Hi.', { model: 'demo-b' });
    const { id } = await submit(openai, [allowed, beyond]);
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
    const key = await newKey({ kind: 'user' });
    await cap(`/users/${bobId}`, { tiers: ['gpu'] });
    const headers = {
      ...bearer(key),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    });
    const initialize = () => fetch(`${cluster.url}/api/tools/mcp`, { method: 'POST', headers, body });
    await until(async () => (await initialize()).status === 403, 1_000);
    expect((await fetch(`${cluster.url}/api/tools/v1/list`, { headers })).status).toBe(403);
    await cap(`/users/${bobId}`, { tiers: ['cloud'] });
    await until(async () => (await ask('demo', bearer(key))).status !== 200, 1_000);
    await cap(`/users/${bobId}`, {});
  });
});
