import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { post } from '../helpers/clients/keyed-requests.ts';
import type { AgentSession, AgentSessionTree } from '#services/console/contract/agent-sessions.ts';
import type { UsageRequest } from '#services/console/contract/usage.ts';
import type { ConsoleClient } from '../helpers/console/console-client.ts';
import { makeKey } from '../helpers/console/make-key.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { newAdministrator, newEmail } from '../helpers/console/new-administrator.ts';
import { inviteToConsole } from '../helpers/console/open-as.ts';
import { adminCommandsOf } from '../helpers/rtr/admin-commands.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

let ada: ConsoleClient;
let bob: ConsoleClient;
let carol: ConsoleClient;
let team: string;
let bobId: string;

const cluster = useCluster();
const other = useStarted(() => cluster.otherIngress());
beforeAll(async () => {
  const first = await newAdministrator(cluster);
  ada = first.client;
  team = String((await ada.post('/teams', { name: 'Crew' })).body.id);
  ({ client: bob, id: bobId } = await inviteToConsole(first, 'Bob', { teamId: team, email: newEmail('Bob') }));
  ({ client: carol } = await inviteToConsole(first, 'Carol', { email: newEmail('Carol') }));
});

async function send(key: string, headers: Record<string, string>, content = 'Hello!', url = cluster.url) {
  const body = { model: 'demo', max_tokens: 50, messages: [{ role: 'user', content }] };
  const answer = await post({ url, key, path: '/anthropic/v1/messages', body, headers });
  expect(answer.status, await answer.text()).toBe(200);
}

async function sessionsSeenBy(client: ConsoleClient, query = ''): Promise<AgentSession[]> {
  const { status, body } = await client.get(`/agent-sessions${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data as AgentSession[];
}

async function sessionNamed(client: ConsoleClient, name: string): Promise<AgentSession | undefined> {
  return (await sessionsSeenBy(client)).find((session) => session.name === name);
}

describe('a session of Claude Code', () => {
  it('is shown while it runs, and then with its sums, agents and turns', async () => {
    const { raw: key } = await makeKey(bob);
    const named = { 'x-claude-code-session-id': 'live', 'x-claude-code-request-class': 'main' };
    const agent = {
      'x-claude-code-session-id': 'live',
      'x-claude-code-agent-id': 'a1',
      'x-claude-code-agent-type': 'Explore',
      'x-claude-code-request-class': 'subagent',
      'x-claude-code-prev-tool-durations': 'Bash=742;Read=9',
    };
    // At another ingress than the one that lists sessions.
    const sent = send(key, agent, 'Hello!\n[demo delay=6000]', other.url);
    let live: AgentSession | undefined;
    await until(async () => (live = await sessionNamed(bob, 'live'))?.running.length === 1);
    expect(live).toMatchObject({
      program: 'claude-code',
      owner: { kind: 'user', id: bobId, name: 'Bob' },
      sums: { requests: 0 },
      running: [{ agent: 'a1', model: 'demo' }],
    });
    expect(Date.now() - (live?.running[0]?.since ?? 0)).toBeLessThan(10_000);
    expect(await sessionNamed(ada, 'live')).toMatchObject({ running: [{ agent: 'a1' }] });
    expect(await sessionNamed(carol, 'live')).toBeUndefined();
    const running = (await bob.get(`/agent-sessions/${live?.id}`)).body;
    expect(running).toMatchObject({ tree: [{ id: 'a1', type: 'Explore' }] });

    await Promise.all([sent, send(key, named), send(key, named)]);
    await until(async () =>
      expect(await sessionNamed(bob, 'live')).toMatchObject({ sums: { requests: 3 }, running: [] }),
    );
    const session = (await bob.get(`/agent-sessions/${live?.id}`)).body as AgentSessionTree;
    expect(session).toMatchObject({
      sums: { requests: 3, failed: 0, toolMs: 751 },
      main: { requests: 2, toolMs: 0 },
      tree: [{ id: 'a1', type: 'Explore', sums: { requests: 1, toolMs: 751 } }],
      models: [{ model: 'demo', tier: 'gpu', sums: { requests: 3 } }],
    });
    expect(session.sums.promptTokens).toBeGreaterThan(0);
    expect(session.sums.modelMs).toBeGreaterThan(5_900);
    const turns = (await bob.get(`/agent-sessions/${live?.id}/turns`)).body.data as UsageRequest[];
    expect(turns.map(({ turn }) => turn?.agent ?? 'main').toSorted()).toEqual(['a1', 'main', 'main']);
    const ofAgent = turns.find(({ turn }) => turn?.agent === 'a1');
    expect(ofAgent).toMatchObject({
      purpose: 'subagent',
      turn: { tools: { longest: [{ name: 'Bash', ms: 742 }, {}] } },
    });
    for (const path of ['', '/turns']) expect((await carol.get(`/agent-sessions/${live?.id}${path}`)).status).toBe(404);
  });

  it("is not changed by another person's key that sends the same name", async () => {
    const own = { 'x-claude-code-session-id': 'shared-name' };
    for (const key of [(await makeKey(bob)).raw, (await makeKey(carol)).raw, cluster.key]) await send(key, own);
    const sums = async (client: ConsoleClient) =>
      (await sessionsSeenBy(client))
        .filter(({ name }) => name === 'shared-name')
        .map(({ owner, sums: { requests } }) => `${owner.kind} ${owner.name}: ${requests}`);
    await until(async () => (await sums(ada)).length === 3);
    expect(await sums(bob)).toEqual(['user Bob: 1']);
    expect(await sums(carol)).toEqual(['user Carol: 1']);
    expect((await sums(ada)).toSorted()).toEqual(['key test: 1', 'user Bob: 1', 'user Carol: 1']);
  });
});

describe('sessions of a team', () => {
  it('are visible to its members, summed up, listed by rtr, and removed with it', async () => {
    const { raw: key } = await makeKey(ada, { kind: 'team', teamId: team });
    const name = `nightly-${randomUUID()}`;
    await send(key, { 'x-rtr-session': name });
    await send(key, { 'x-rtr-session': name, 'x-rtr-purpose': 'auxiliary' });
    // Counting tokens is not a turn.
    const path = '/anthropic/v1/messages/count_tokens';
    const body = { model: 'demo', messages: [{ role: 'user', content: 'Hi' }] };
    const counted = await post({ ...cluster, key, path, body, headers: { 'x-rtr-session': name } });
    expect(counted.status).toBe(200);
    // Nodes publish running turns once a second, so a finished turn may be in the sums and still be shown as running.
    await until(async () =>
      expect(await sessionNamed(bob, name)).toMatchObject({ sums: { requests: 2 }, running: [] }),
    );
    expect(await sessionsSeenBy(bob, `?team=${team}`)).toMatchObject([{ name, program: 'other' }]);
    expect(await sessionNamed(carol, name)).toBeUndefined();
    const sums = await bob.get('/agent-sessions/sums');
    expect(sums.body).toMatchObject([{ owner: { name: 'Crew' }, sessions: 1, sums: { requests: 2 } }]);
    expect((await carol.get('/agent-sessions/sums')).body).toEqual([]);

    const rtr = adminCommandsOf(cluster);
    const session = await sessionNamed(bob, name);
    expect((await rtr('sessions', 'list', '--team', 'Crew')).join('\n')).toMatch(/other +team Crew +- +0 +demo +2 /);
    expect((await rtr('sessions', 'show', session?.id ?? '')).join('\n')).toMatch(/^main +requests=2 /m);
    expect(await rtr('sessions', 'turns', session?.id ?? '')).toHaveLength(3);
    expect((await rtr('sessions', 'sums')).join('\n')).toMatch(/team Crew +1 +0 +2 /);

    expect((await ada.delete(`/teams/${team}`)).status).toBe(204);
    expect(await sessionNamed(ada, name)).toBeUndefined();
    expect((await ada.get(`/agent-sessions/${session?.id}`)).status).toBe(404);
  });
});

it('sessions of a person are removed with them', async () => {
  expect((await sessionsSeenBy(ada, `?user=${bobId}`)).length).toBeGreaterThan(0);
  expect((await ada.delete(`/users/${bobId}`)).status).toBe(204);
  // A turn that has just ended is shown as running until its node has published its end.
  await until(async () => (await sessionsSeenBy(ada, `?user=${bobId}`)).length === 0);
  expect((await ada.get(`/agent-sessions/sums?user=${bobId}`)).body).toEqual([]);
});
