import { z } from 'zod';
import {
  parseSessionOwner,
  sessionIdPattern,
  type SessionOwner,
} from '#shared/accounts/ledger/agent-sessions/session-names.ts';
import type { AgentSession } from '#shared/accounts/ledger/agent-sessions/agent-session.ts';
import { createZeroSums } from '#shared/accounts/ledger/agent-sessions/session-sums.ts';
import { nameRequests } from '#shared/accounts/ledger/name-requests.ts';
import { maySee, type UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { RunningTurnStats } from '#shared/broker/contract/ingress-stats.ts';
import {
  agentSessionSchema,
  agentSessionTreeSchema,
  ownerSumsSchema,
  type AgentSessionTree,
} from '../../contract/agent-sessions.ts';
import { usageRequestSchema } from '../../contract/usage.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { requireCursor, formatTimedCursor, parseTimedCursor, type Order } from '../operations/page.ts';
import {
  toOwnerSumsAnswers,
  toSessionAnswers,
  toTreeAnswer,
  type SessionWithTurns,
  type AgentSessionParts,
} from './agent-session-answers.ts';
import { listRunningAgents, groupBySession, buildSession } from './running-sessions.ts';
import { ledgerCursorForm } from '../usage/usage-query.ts';

const id = z.string().min(1).max(256).optional();
const ownerQuery = z.object({ user: id, team: id, key: id.describe('A key that belongs to nobody.') });

/** The maximum number of running agent sessions that the first page adds to the sessions from `sessions.list`. */
const maxRunningAdded = 200;

const lastTurnCursor: Pick<Order<never>, 'form'> = { form: /^\d{16}\.(?:\w+:[\w-]{1,40}\/)?[\da-f]{32}$/ };
/** The form of an id in the ledger's stream. Excludes ids with the time 0, because Redis refuses to read before the first possible id. */
const recordCursor: Pick<Order<never>, 'form'> = { form: ledgerCursorForm };

/** The columns in which `rtr` shows sums over turns. */
const sumColumns = [
  'sums.requests',
  'sums.failed',
  'sums.promptTokens',
  'sums.cachedTokens',
  'sums.completionTokens',
  'sums.queueMs',
  'sums.modelMs',
  'sums.toolMs',
  'sums.cost',
];

export function agentSessionOperations(parts: AgentSessionParts): Operation[] {
  const { sessions, running, viewerOf, teamsOf } = parts;
  const common = { subject: 'usage', scopes: ['read'] } as const;

  async function findTree(viewer: UsageViewer, sessionId: string): Promise<AgentSessionTree> {
    if (!sessionIdPattern.test(sessionId)) throw notFound();
    const turns = groupBySession(running(), viewer).get(sessionId) ?? [];
    const found = await sessions.findTree(viewer, sessionId);
    const unfinished = found ? undefined : buildSession(sessionId, turns);
    const session = found ?? (unfinished && { ...unfinished, main: createZeroSums(), agents: [] });
    if (!session) throw notFound();
    return toTreeAnswer(parts, session, turns);
  }

  /** Adds to each agent session its running turns, and the number of agents without a finished turn. */
  async function addTurns(
    agentSessions: readonly AgentSession[],
    turns: ReadonlyMap<string, RunningTurnStats[]>,
  ): Promise<SessionWithTurns[]> {
    const agents = agentSessions.flatMap(({ id: session }) =>
      listRunningAgents(turns.get(session) ?? []).map((agent) => ({ session, agent })),
    );
    const haveTurns = await sessions.haveTurns(agents);
    const newAgents = Map.groupBy(
      agents.filter((_, index) => haveTurns[index] !== true),
      ({ session }) => session,
    );
    return agentSessions.map((session) => ({
      session,
      turns: turns.get(session.id) ?? [],
      newAgents: newAgents.get(session.id)?.length ?? 0,
    }));
  }

  return [
    listOperation({
      ...common,
      path: '/agent-sessions',
      id: 'listAgentSessions',
      summary:
        'Lists sessions of coding agents: first those that run now, then the others. The latest turn comes first.',
      command: 'sessions list',
      form: {
        columns: ['id', 'lastAt', 'program', 'owner', 'running.since', 'agents', 'models.model', ...sumColumns],
        none: 'There are no sessions.',
      },
      query: ownerQuery,
      item: agentSessionSchema,
      isEndless: true,
      handle: async ({ actor, query }, { limit, cursor }) => {
        requireCursor(cursor, lastTurnCursor);
        const viewer = viewerOf(actor);
        const owner = readOwnerQuery(query);
        const turns = groupBySession(running(), viewer, owner);
        const { sessions: found, next } = await sessions.list(viewer, owner, limit, parseTimedCursor(cursor));
        const listedIds = new Set(found.map((session) => session.id));
        // `list` finds sessions by their last finished turn. A running session may have finished its last turn before this page begins, or
        // may have finished none. The first page shows these sessions too.
        const runningIds =
          cursor === undefined
            ? [...turns.keys()].filter((each) => !listedIds.has(each)).slice(0, maxRunningAdded)
            : [];
        const runningSessions = await Promise.all(
          runningIds.map(
            async (each) => (await sessions.find(viewer, each)) ?? buildSession(each, turns.get(each) ?? []),
          ),
        );
        // Later pages leave out the running agent sessions, because the first page has shown them.
        const rest = cursor === undefined ? found : found.filter((session) => !turns.has(session.id));
        const pageSessions = [...runningSessions.filter((session) => session !== undefined), ...rest];
        const withTurns = await addTurns(pageSessions, turns);
        return {
          data: await toSessionAnswers(
            parts,
            withTurns.sort((a, b) => Number(b.turns.length > 0) - Number(a.turns.length > 0)),
          ),
          next: next && formatTimedCursor(next.at, next.member),
        };
      },
    }),
    operation({
      ...common,
      method: 'get',
      path: '/agent-sessions/sums',
      id: 'getAgentSessionSums',
      summary: 'Returns the sums over the sessions of each team, or of one person, team or key.',
      command: 'sessions sums',
      form: {
        columns: ['owner', 'sessions', 'agents', ...sumColumns],
        none: 'There were no sessions.',
      },
      query: ownerQuery,
      answer: z.array(ownerSumsSchema),
      handle: async ({ actor, query }) => {
        const viewer = viewerOf(actor);
        const owner = readOwnerQuery(query);
        const owners = await listVisibleOwners(viewer, owner);
        return toOwnerSumsAnswers(parts, await sessions.sumByOwner(owners));
      },
    }),
    operation({
      ...common,
      method: 'get',
      path: '/agent-sessions/{id}',
      id: 'getAgentSession',
      summary: 'Returns a session of a coding agent, with the agents that were started in the session.',
      command: 'sessions show',
      answer: agentSessionTreeSchema,
      handle: async ({ actor, params }) => findTree(viewerOf(actor), params.id),
    }),
    listOperation({
      ...common,
      path: '/agent-sessions/{id}/turns',
      id: 'listAgentTurns',
      summary: 'Lists the requests of a session that the ledger still keeps, newest first.',
      command: 'sessions turns',
      form: {
        columns: [
          'at',
          'id',
          'turn.agent',
          'asked',
          'model',
          'rule',
          'outcome',
          'code',
          'turn.tools.ms',
          'queueMs',
          'totalMs',
          'promptTokens',
          'cachedTokens',
          'completionTokens',
          'cost',
        ],
        none: 'No request of this session is kept.',
      },
      item: usageRequestSchema,
      isEndless: true,
      handle: async ({ actor, params }, { limit, cursor }) => {
        requireCursor(cursor, recordCursor);
        const viewer = viewerOf(actor);
        const session = sessionIdPattern.test(params.id)
          ? ((await sessions.find(viewer, params.id)) ?? groupBySession(running(), viewer).get(params.id))
          : undefined;
        if (!session) throw notFound();
        const { turns, next } = await sessions.listTurns(params.id, limit, cursor);
        return { data: await nameRequests(parts.namesOf)(turns), next };
      },
    }),
  ];

  async function listVisibleOwners(viewer: UsageViewer, owner: SessionOwner | undefined): Promise<SessionOwner[]> {
    if (owner === undefined) return (await teamsOf(viewer)).map((team) => `team:${team}` as const);
    return maySee(viewer, parseSessionOwner(owner)) ? [owner] : [];
  }
}

/**
 * Returns the owner that a query names; undefined if it asks for the sessions of all owners.
 * @throws ApiFailure 400 for several owners
 */
function readOwnerQuery({ user, team, key }: z.output<typeof ownerQuery>): SessionOwner | undefined {
  const owners: SessionOwner[] = [
    ...(user === undefined ? [] : [`user:${user}` as const]),
    ...(team === undefined ? [] : [`team:${team}` as const]),
    ...(key === undefined ? [] : [`key:${key}` as const]),
  ];
  if (owners.length < 2) return owners[0];
  const message = 'Sessions belong to one person, one team or one key: name one of them.';
  throw new ApiFailure(400, 'invalid_request', message);
}
