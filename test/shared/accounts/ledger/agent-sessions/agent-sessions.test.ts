import { describe, expect, it } from 'vitest';
import { AgentSessionReader } from '#shared/accounts/ledger/agent-sessions/agent-session-reader.ts';
import { removeAgentSessionsOfOwner } from '#shared/accounts/ledger/agent-sessions/remove-agent-sessions-of-owner.ts';
import {
  computeSessionId,
  sessionRedisNames,
  type SessionOwner,
} from '#shared/accounts/ledger/agent-sessions/session-names.ts';
import type { TimedPlace } from '#shared/store/redis/read-newest.ts';
import type { UsageRecord, UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import { allPages } from '../../../../helpers/accounts/all-pages.ts';
import { ledgerRecord } from '../../../../helpers/accounts/ledger-record.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { admin, member, openLedger } from '../../../../helpers/accounts/open-ledger.ts';
import { until } from '../../../../helpers/until.ts';

const day = 86_400_000;
const [ada, bob] = [member('ada', 't1'), member('bob')];
const now = Date.now();

async function open(sessionsKeptMs = 7 * day) {
  const opened = await openLedger({ sessionsKeptMs });
  const { redis, prefix } = opened;
  const reader = new AgentSessionReader(redis, prefix, sessionsKeptMs);
  const listed = async (viewer = ada) => (await reader.list(viewer, undefined, 10)).sessions;
  return { ...opened, reader, listed, names: sessionRedisNames(prefix) };
}

let count = 0;
function turn(of: Partial<AgentTurn> = {}, fields: Partial<UsageRecord> = {}): UsageRecord {
  const use = { queueMs: 10, totalMs: 110, promptTokens: 100, cachedTokens: 80 };
  const ofSession: AgentTurn = { program: 'claude-code', session: 's1', ...of };
  return ledgerRecord({ at: now - 60_000 + ++count, format: 'messages', turn: ofSession, ...use, ...fields });
}

const many = (length: number, of: (at: number) => UsageRecord) => Array.from({ length }, (_, at) => of(at));
const ofAda = (name: string): string => computeSessionId('user:ada', name);
const ofTeam = { owner: { kind: 'team', id: 't1' }, key: { id: 'k2', name: 'ci' } } as const;

it('a session has the sums of its turns, of each agent and of each model with its rule', async () => {
  const { write, reader } = await open();
  const tools = { ms: 500, longest: [{ name: 'Bash', ms: 500 }] };
  await write(
    turn({ prompt: 'p1' }),
    turn({ tools }, { outcome: 'failed', code: 'upstream_failed' }),
    turn({ agent: 'a1', type: 'Explore' }, { model: 'm2', rule: 'models.auto.agents.Explore', cost: 7 }),
    turn({ agent: 'a2', parent: 'a1' }),
    turn({}, { turn: undefined }),
  );
  await write(turn({ agent: 'a1', type: 'Explore' }));
  const { sessions, next } = await reader.list(ada, undefined, 10);
  expect([sessions, next]).toMatchObject([[{ sums: { requests: 5, agents: 2 } }], undefined]);
  const session = await reader.findTree(ada, sessions[0]?.id ?? '');
  expect(session).toMatchObject({
    owner: 'user:ada',
    name: 's1',
    program: 'claude-code',
    key: 'k1',
    sums: { requests: 5, failed: 1, promptTokens: 500, cachedTokens: 400, queueMs: 50, modelMs: 500, toolMs: 500 },
    main: { requests: 2, toolMs: 500 },
    agents: [
      { id: 'a1', type: 'Explore', sums: { requests: 2, cost: 1_007 } },
      { id: 'a2', parent: 'a1', sums: { requests: 1 } },
    ],
    models: [
      { model: 'm1', rule: '', tier: 'gpu', sums: { requests: 4, cost: 4_000 } },
      { model: 'm2', rule: 'models.auto.agents.Explore', sums: { requests: 1, cost: 7 } },
    ],
  });
  expect(session?.agents[0]?.lastAt).toBe(session?.lastAt);
});

it('a session lists its single turns page by page, without those of other sessions, and keeps its sums for longer', async () => {
  const { redis, prefix, write, reader } = await open();
  const own = many(5, () => turn());
  await write(...own, turn({ session: 's2' }));
  const pages = await allPages((before?: string) => reader.listTurns(ofAda('s1'), 2, before));
  const [e, d, c, b, a] = own.map(({ id }) => id).toReversed();
  expect(pages.map(({ turns }) => turns.map(({ id }) => id))).toEqual([[e, d], [c, b], [a]]);
  // The ledger drops its requests, but not its sums.
  await redis.xtrim(`${prefix}usage:requests`, 'MAXLEN', 0);
  expect(await reader.listTurns(ofAda('s1'), 10)).toEqual({ turns: [], next: undefined });
  expect(await reader.find(ada, ofAda('s1'))).toMatchObject({ sums: { requests: 5 } });
});

it('a session is written once, even when the last batches are sent again to a new primary', async () => {
  const { redis, ledger, reader, listed } = await open();
  ledger.add(turn());
  ledger.add(turn({ agent: 'a1' }));
  await until(async () => (await listed()).length === 1);
  // As after a connection to another primary.
  redis.emit('ready');
  ledger.add(turn());
  await ledger.close();
  expect(await listed()).toMatchObject([{ sums: { requests: 3 } }]);
  expect(await reader.sumByOwner(['user:ada'])).toMatchObject([{ sums: { requests: 3, sessions: 1, agents: 1 } }]);
  expect((await reader.listTurns(ofAda('s1'), 10)).turns).toHaveLength(3);
});

it('the id of a session depends on its owner and its name, and fits into a command line and a URL', () => {
  const ids = Array.from({ length: 500 }, (_, index) => computeSessionId('user:ada', `s${index}`));
  expect(new Set([...ids, computeSessionId('user:bob', 's0')]).size).toBe(501);
  for (const id of ids) expect(id).toMatch(/^[\da-f]{32}$/);
});

describe('sessions', () => {
  it('of the same name are separate for each owner, and visible only to their own people', async () => {
    const { write, reader } = await open();
    const ofBob = { owner: { kind: 'user', id: 'bob' }, key: { id: 'k3', name: 'desk' } } as const;
    await write(
      turn(),
      turn({}, ofBob),
      turn({}, ofTeam),
      turn({}, { owner: undefined, key: { id: 'k4', name: 'r' } }),
    );
    const ownersSeenBy = async (viewer: UsageViewer, of?: SessionOwner) => {
      const { sessions } = await reader.list(viewer, of, 10);
      return sessions.map(({ owner, sums }) => `${owner} ${sums.requests}`).toSorted();
    };
    expect(await ownersSeenBy(admin)).toEqual(['key:k4 1', 'team:t1 1', 'user:ada 1', 'user:bob 1']);
    expect(await ownersSeenBy(ada)).toEqual(['team:t1 1', 'user:ada 1']);
    expect(await ownersSeenBy(bob)).toEqual(['user:bob 1']);
    expect(await ownersSeenBy(bob, 'user:ada')).toEqual([]);
    expect(await ownersSeenBy(ada, 'team:t1')).toEqual(['team:t1 1']);
    expect(await ownersSeenBy(admin, 'key:k4')).toEqual(['key:k4 1']);
    const ofTheTeam = computeSessionId('team:t1', 's1');
    for (const id of [ofAda('s1'), ofTheTeam]) expect(await reader.find(bob, id)).toBeUndefined();
    expect(await reader.find(ada, ofTheTeam)).toMatchObject({ owner: 'team:t1' });
  });

  it.each([
    ['everybody', admin],
    ['a member', ada],
  ])('of %s are listed by their last turn, page by page', async (_, viewer) => {
    const { write, reader } = await open();
    await write(
      ...many(5, (index) => turn({ session: `s${index}` }, index % 2 === 0 ? {} : ofTeam)),
      // With the same time as another one.
      turn({ session: 'twin' }, { at: now - 60_000 + count }),
    );
    await write(turn({ session: 's0' }));
    const pages = await allPages((after?: TimedPlace) => reader.list(viewer, undefined, 2, after));
    const names = pages.flatMap(({ sessions }) => sessions.map(({ name }) => name));
    expect(names[0]).toBe('s0');
    expect(names.slice(3)).toEqual(['s3', 's2', 's1'].slice(0, names.length - 3));
    expect(names.toSorted()).toEqual(['s0', 's1', 's2', 's3', 's4', 'twin']);
  });

  it.each([
    ['everybody', admin],
    ['a member', ada],
  ])('of %s are all listed, even if many had their last turn in the same millisecond', async (_, viewer) => {
    const { write, reader } = await open();
    const at = (index: number) => (index % 2 === 0 ? { at: now } : { at: now, ...ofTeam });
    await write(...Array.from({ length: 30 }, (_, index) => turn({ session: `s${index}` }, at(index))));
    const pages = await allPages((after?: TimedPlace) => reader.list(viewer, undefined, 4, after));
    expect(new Set(pages.flatMap(({ sessions }) => sessions.map(({ name }) => name))).size).toBe(30);
  });

  it('of one owner are bounded: the ones used longest ago go first, with everything that is stored about them', async () => {
    const { redis, write, reader, names } = await open();
    await write(turn({ session: 'old' }), turn({ session: 'of-team' }, ofTeam));
    await write(...many(499, (index) => turn({ session: `s${index}` })));
    expect(await reader.find(ada, ofAda('old'))).toBeDefined();
    await write(turn({ session: 'one-more' }));
    const id = ofAda('old');
    expect(await reader.find(ada, id)).toBeUndefined();
    expect(await redis.exists(names.session(id), names.agents(id), names.turns(id))).toBe(0);
    expect([await redis.zcard(names.ofOwner('user:ada')), await redis.zcard(names.all)]).toEqual([500, 501]);
    expect(await reader.find(ada, computeSessionId('team:t1', 'of-team'))).toBeDefined();
  });

  it('of all owners are bounded', async () => {
    const { redis, write, names } = await open();
    const places = Array.from({ length: 10_000 }, (_, index) => [now - day + index, `key:x/${index}`]);
    await redis.zadd(names.all, ...places.flat());
    await write(turn());
    expect(await redis.zcard(names.all)).toBe(10_000);
    expect(await redis.zscore(names.all, 'key:x/0')).toBeNull();
    expect(await redis.zscore(names.all, `user:ada/${ofAda('s1')}`)).not.toBeNull();
  });

  it('take a bounded amount of room each, whatever names clients send: further ones are counted together', async () => {
    const { redis, write, reader, names } = await open();
    const long = (name: string): string => name.padEnd(128, 'x');
    const type = 't'.repeat(64);
    const ofAgent = (at: number) =>
      turn({ agent: long(`a${at}`), parent: long(`a${at - 1}`), type }, { model: `m${at}`, cost: 1 });
    await write(...many(600, ofAgent));
    const id = ofAda('s1');
    const [session, agents, turns] = [names.session(id), names.agents(id), names.turns(id)];
    expect(await redis.hlen(session)).toBeLessThan(350);
    expect(await redis.hlen(agents)).toBeLessThan(210);
    expect(await redis.llen(turns)).toBe(500);
    const sizes = [session, agents, turns].map((name) => redis.memory('USAGE', name, 'SAMPLES', 0));
    const bytes = (await Promise.all(sizes)).reduce<number>((sum, size) => sum + Number(size), 0);
    expect(bytes).toBeLessThan(130_000);
    const tree = made(await reader.findTree(ada, id));
    expect(tree.sums.requests).toBe(600);
    expect(tree.agents.find((agent) => agent.id === undefined)?.sums.requests).toBeGreaterThan(100);
    expect(tree.models.find(({ model }) => model === '')?.sums.requests).toBeGreaterThan(100);
  });

  it('are listed without the names that clients chose: a page is no larger with many agents', async () => {
    const { redis, write, listed, names } = await open();
    await write(...many(200, (index) => turn({ agent: `a${index}`.padEnd(128, 'x') })));
    // A list reads nothing of a session but this hash.
    expect(await redis.hlen(names.session(ofAda('s1')))).toBeLessThan(30);
    await redis.del(names.agents(ofAda('s1')));
    const [session] = await listed();
    expect(session?.sums.requests).toBe(200);
    expect(session?.sums.agents).toBeGreaterThan(50);
  });

  it('expire some time after their last turn', async () => {
    const { redis, prefix, write, listed, names } = await open(2 * day);
    await write(turn({ session: 'stale' }, { at: now - 3 * day }), turn({ session: 'fresh' }));
    expect(await listed(admin)).toMatchObject([{ name: 'fresh' }]);
    expect([await redis.zcard(names.all), await redis.zcard(names.ofOwner('user:ada'))]).toEqual([1, 1]);
    // As when nothing is written any more: its turn began a minute ago.
    const later = new AgentSessionReader(redis, prefix, 1_000);
    expect((await later.list(admin, undefined, 10)).sessions).toEqual([]);
    const stored = await redis.keys(`${prefix}usage:sessions:*`);
    expect(stored.length).toBeGreaterThan(4);
    for (const name of stored) expect(await redis.pttl(name)).toBeGreaterThan(0);
  });

  it('are not kept at all with 0 days', async () => {
    const { redis, prefix, write, listed } = await open(0);
    await write(turn());
    expect(await redis.keys(`${prefix}usage:sessions:*`)).toEqual([]);
    expect(await listed(admin)).toEqual([]);
    expect(await redis.xlen(`${prefix}usage:requests`)).toBe(1);
  });

  it('of a deleted person or team are removed, and no others', async () => {
    const { redis, prefix, write, reader, listed } = await open();
    await write(...many(250, (index) => turn({ session: `s${index}` })), turn({}, ofTeam));
    await removeAgentSessionsOfOwner(redis, prefix, 'user:ada');
    expect(await listed(admin)).toMatchObject([{ owner: 'team:t1' }]);
    expect((await redis.keys(`${prefix}usage:sessions:*`)).filter((name) => name.includes('ada'))).toEqual([]);
    for (const kind of ['session', 'agents', 'turns'])
      expect(await redis.keys(`${prefix}usage:sessions:${kind}:*`)).toHaveLength(1);
    expect(await reader.sumByOwner(['user:ada', 'team:t1'])).toMatchObject([
      { sums: { requests: 0 } },
      { sums: { requests: 1, sessions: 1 } },
    ]);
  });

  it('of a team are summed up by model and key over the days that are kept', async () => {
    const { write, reader } = await open();
    const other = { ...ofTeam, key: { id: 'session:ada:t1', name: 'Ada' } };
    await write(
      turn({}, ofTeam),
      turn({ session: 's2', agent: 'a1' }, { ...other, cost: 50_000 }),
      turn({ session: 's2', agent: 'a1' }, { ...other, at: now - 2 * day }),
      turn({ session: 's3' }, { ...other, at: now - 20 * day }),
    );
    const [sums] = await reader.sumByOwner(['team:t1']);
    const keys = [{ key: 'session:ada:t1' }, { key: 'k2', sums: { requests: 1 } }];
    expect(sums).toMatchObject({ owner: 'team:t1', models: [{ model: 'm1', sums: { requests: 3 } }], keys });
  });
});
