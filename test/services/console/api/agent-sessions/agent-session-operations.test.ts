import { describe, expect, it } from 'vitest';
import { AgentSessionReader } from '#shared/accounts/ledger/agent-sessions/agent-session-reader.ts';
import { computeSessionId } from '#shared/accounts/ledger/agent-sessions/session-names.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { RunningTurnStats } from '#shared/broker/contract/ingress-stats.ts';
import { agentSessionOperations } from '#services/console/api/agent-sessions/agent-session-operations.ts';
import type { AgentSession, AgentSessionSums, AgentSessionTree } from '#services/console/contract/agent-sessions.ts';
import type { UsageRequest } from '#services/console/contract/usage.ts';
import { ledgerRecord } from '../../../../helpers/accounts/ledger-record.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { writeLedger } from '../../../../helpers/accounts/open-ledger.ts';
import { people, serveOperations, type Viewer } from '../../../../helpers/console/serve-operations.ts';

const now = Date.now();
let count = 0;
function turn(session: string, fields: Partial<UsageRecord> = {}): UsageRecord {
  count += 1;
  const of = { at: now - 60_000 + count, turn: { program: 'claude-code', session } } as const;
  return ledgerRecord({ ...of, format: 'messages', cost: 1_500_000, ...fields });
}

const ofTeam = { owner: { kind: 'team', id: 't1' }, key: { id: 'k2', name: 'ci' } } as const;

function runs(session: string, fields: Partial<RunningTurnStats> = {}): RunningTurnStats {
  const key = { key: 'k1', user: 'ada', team: '' };
  return { request: `run-${session}`, ...key, program: 'claude-code', session, since: now, ...fields };
}

/** The operations on a server of their own, with some turns in the ledger and some that run. */
async function openApi(records: UsageRecord[], running: readonly RunningTurnStats[] = []) {
  const store = await openKeyStore();
  await writeLedger(store, records);
  const { redis, prefix } = store;
  const operations = agentSessionOperations({
    sessions: new AgentSessionReader(redis, prefix, 7 * 86_400_000),
    usage: new UsageReader(redis, prefix),
    running: () => running,
    ...people,
    teamsOf: async ({ isAdmin, teamIds }) => (isAdmin ? ['t1', 't2'] : teamIds),
  });
  const served = await serveOperations(operations);
  const ask = (path: string, viewer: Viewer) => served.ask(`/agent-sessions${path}`, viewer);
  const get = <T>(path: string, viewer: Viewer = 'ada') => served.read<T>(`/agent-sessions${path}`, viewer);
  const list = async (path: string, viewer?: Viewer) => get<{ data: AgentSession[]; next?: string }>(path, viewer);
  return { ask, get, list };
}

const own = computeSessionId('user:ada', 's1');

describe('GET /agent-sessions', () => {
  it('lists sessions with names and costs in dollars to those who may see their requests', async () => {
    const { list } = await openApi([turn('s1'), turn('s1'), turn('s2', ofTeam)]);
    const { data } = await list('');
    expect(data).toMatchObject([
      { name: 's2', owner: { kind: 'team', id: 't1', name: 'Research' }, key: { id: 'k2', name: 'ci' }, running: [] },
      { id: own, owner: { kind: 'user', name: 'Ada' }, sums: { requests: 2, cost: 0.003 }, agents: 0 },
    ]);
    expect((await list('', 'admin')).data).toHaveLength(2);
    expect((await list('', 'stranger')).data).toEqual([]);
    expect((await list('?team=t1')).data.map(({ name }) => name)).toEqual(['s2']);
    for (const query of ['', '?user=ada', '?team=t1']) expect((await list(query, 'bob')).data).toEqual([]);
  });

  it('lists running sessions first, also before a turn of theirs has ended, and once over all pages', async () => {
    const running = [runs('s1', { model: 'm1' }), runs('new', { agent: 'a1', type: 'Explore' })];
    const { list } = await openApi([turn('s1'), turn('s2'), turn('s3')], running);
    const first = await list('?limit=1');
    expect(first.data).toMatchObject([
      { name: 's1', sums: { requests: 1 }, running: [{ request: 'run-s1', model: 'm1' }] },
      { name: 'new', sums: { requests: 0 }, agents: 1, running: [{ agent: 'a1' }] },
      { name: 's3', running: [] },
    ]);
    expect((await list(`?limit=5&cursor=${first.next ?? ''}`)).data.map(({ name }) => name)).toEqual(['s2']);
    expect((await list('', 'bob')).data).toEqual([]);
    expect((await list('?team=t1', 'ada')).data).toEqual([]);
  });

  it('refuses a wrong query, and says what is wrong', async () => {
    const { ask } = await openApi([turn('s1')]);
    const turns = `/${own}/turns?cursor=0-0`;
    const reasons = { '?cursor=x': 'cursor', '?limit=0': 'limit', '?user=ada&team=t1': 'name one', [turns]: 'cursor' };
    for (const [path, reason] of Object.entries(reasons)) {
      const answer = await ask(path, 'ada');
      expect([answer.status, await answer.text()], path).toEqual([400, expect.stringContaining(reason)]);
    }
  });
});

describe('GET /agent-sessions/{id}', () => {
  it('answers the session with its agents, including agents whose first turn runs', async () => {
    const agent = { program: 'claude-code', session: 's1', agent: 'a1', type: 'Explore' } as const;
    const running = [runs('s1', { agent: 'a2', parent: 'a1', request: 'run-2' }), runs('s1', { agent: 'a1' })];
    const { get, list } = await openApi([turn('s1'), turn('s1', { turn: agent })], running);
    expect((await list('')).data).toMatchObject([{ agents: 2, running: [{}, {}] }]);
    const first = { id: 'a1', type: 'Explore', sums: { requests: 1, cost: 0.0015 } };
    expect(await get<AgentSessionTree>(`/${own}`)).toMatchObject({
      agents: 2,
      main: { requests: 1 },
      tree: [first, { id: 'a2', parent: 'a1', sums: { requests: 0 } }],
      models: [{ model: 'm1', sums: { requests: 2 } }],
    });
  });

  it('and its turns do not exist for anybody else', async () => {
    const { ask, get } = await openApi([turn('s1'), turn('s2', ofTeam)], [runs('live')]);
    const { data } = await get<{ data: UsageRequest[] }>(`/${own}/turns`);
    expect(data).toMatchObject([{ turn: { session: 's1' }, sessionId: own, owner: { name: 'Ada' }, cost: 0.0015 }]);
    const visible = [own, computeSessionId('team:t1', 's2'), computeSessionId('user:ada', 'live')];
    for (const id of [...visible, ...visible.map((each) => `${each}/turns`)]) {
      expect((await ask(`/${id}`, 'ada')).status).toBe(200);
      expect((await ask(`/${id}`, 'bob')).status).toBe(404);
    }
    for (const id of ['no-such-session', '0'.repeat(32)]) expect((await ask(`/${id}`, 'admin')).status).toBe(404);
  });
});

it('GET /agent-sessions/sums answers the sums of each team that a person may see, or of one owner', async () => {
  const ofOther = { owner: { kind: 'team', id: 't2' }, key: { id: 'k9', name: 'x' } } as const;
  const { get } = await openApi([turn('s1'), turn('s2', ofTeam), turn('s2', ofTeam), turn('s3', ofOther)]);
  const names = async (path: string, viewer?: Viewer) =>
    (await get<AgentSessionSums[]>(`/sums${path}`, viewer)).map(({ owner, sums }) => `${owner.name} ${sums.requests}`);
  expect(await names('')).toEqual(['Research 2']);
  expect(await names('', 'bob')).toEqual(['t2 1']);
  expect(await names('', 'admin')).toEqual(['Research 2', 't2 1']);
  expect(await names('?user=ada')).toEqual(['Ada 1']);
  for (const query of ['?user=ada', '?team=t1']) expect(await names(query, 'bob')).toEqual([]);
  const [sums] = await get<AgentSessionSums[]>('/sums?team=t1');
  const models = [{ model: 'm1', sums: { cost: 0.003 } }];
  expect(sums).toMatchObject({ sessions: 1, models, keys: [{ key: { id: 'k2', name: 'ci' } }] });
});
