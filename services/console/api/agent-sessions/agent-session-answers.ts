import type {
  AgentSession as StoredSession,
  AgentSessionTree as StoredTree,
  ModelSums,
  SessionAgent as StoredAgent,
} from '#shared/accounts/ledger/agent-sessions/agent-session.ts';
import type { OwnerSums, AgentSessionReader } from '#shared/accounts/ledger/agent-sessions/agent-session-reader.ts';
import {
  parseSessionOwner,
  type KeyWithOwner,
  type SessionOwner,
} from '#shared/accounts/ledger/agent-sessions/session-names.ts';
import type { SessionSums as StoredSums } from '#shared/accounts/ledger/agent-sessions/session-sums.ts';
import { toDollars } from '#shared/accounts/money.ts';
import type { RunningTurnStats } from '#shared/broker/contract/ingress-stats.ts';
import type {
  AgentSession,
  AgentSessionSums,
  AgentSessionTree,
  RunningTurn,
  SessionAgent,
  SessionModel,
  SessionSums,
} from '../../contract/agent-sessions.ts';
import { nameSenders } from '../usage/name-senders.ts';
import { addRunningAgents } from './running-sessions.ts';
import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { UsageParts } from '../usage/usage-parts.ts';

export interface AgentSessionParts extends Pick<UsageParts, 'viewerOf' | 'namesOf'> {
  sessions: Pick<AgentSessionReader, 'list' | 'find' | 'findTree' | 'haveTurns' | 'listTurns' | 'sumByOwner'>;
  usage: Pick<UsageParts['usage'], 'readKeyNames'>;
  /** Returns the turns that are running now, on every ingress. */
  running: () => readonly RunningTurnStats[];
  /** Returns the ids of the teams that a viewer may see: their own, or all for an administrator. */
  teamsOf: (viewer: UsageViewer) => Promise<readonly string[]>;
}

/** An agent session with its running turns. */
export interface SessionWithTurns {
  session: StoredSession;
  turns: readonly RunningTurnStats[];
  /** The number of agents in `turns` without a finished turn. */
  newAgents: number;
}

/** The maximum number of keys with sums of their own in the answer for one owner. */
const maxKeys = 20;

/** Converts agent sessions into the API's answers, with the names of owners and keys and with costs in dollars. */
export async function toSessionAnswers(
  parts: Pick<AgentSessionParts, 'usage' | 'namesOf'>,
  sessions: readonly SessionWithTurns[],
): Promise<AgentSession[]> {
  const nameOf = await findPartyNames(
    parts,
    sessions.map(({ session: { owner, key } }) => parseSessionOwner(owner, key)),
  );
  return sessions.map(({ session, turns, newAgents }) => {
    const { id, name, program, owner, key, startedAt, lastAt, sums, models } = session;
    return {
      id,
      name,
      program,
      ...nameOf(owner, key),
      startedAt,
      lastAt: Math.max(lastAt, turns.at(-1)?.since ?? 0),
      sums: toSumsAnswer(sums),
      agents: sums.agents + newAgents,
      models: models.map(toModelAnswer),
      running: turns.map(toRunningAnswer),
    };
  });
}

/** Converts one agent session as `toSessionAnswers` does, and adds the tree of its agents. */
export async function toTreeAnswer(
  parts: Pick<AgentSessionParts, 'usage' | 'namesOf'>,
  session: StoredTree,
  turns: readonly RunningTurnStats[],
): Promise<AgentSessionTree> {
  const tree = addRunningAgents(session.agents, turns);
  const [answer] = await toSessionAnswers(parts, [{ session, turns, newAgents: tree.length - session.agents.length }]);
  if (!answer) throw new Error('a session has no answer');
  return { ...answer, main: toSumsAnswer(session.main), tree: tree.map(toAgentAnswer) };
}

/** Converts the sums of owners into the API's answers, the highest cost first. Leaves out owners without a request. */
export async function toOwnerSumsAnswers(
  parts: Pick<AgentSessionParts, 'usage' | 'namesOf'>,
  ownerSums: readonly OwnerSums[],
): Promise<AgentSessionSums[]> {
  const shown = ownerSums
    .filter(({ sums }) => sums.requests > 0)
    .map((each) => ({ ...each, keys: each.keys.slice(0, maxKeys) }))
    .sort((a, b) => b.sums.cost - a.sums.cost || b.sums.requests - a.sums.requests);
  const nameOf = await findPartyNames(
    parts,
    shown.flatMap(({ owner, keys }) => [
      parseSessionOwner(owner),
      ...keys.map(({ key }) => parseSessionOwner(owner, key)),
    ]),
  );
  return shown.map(({ owner, sums, models, keys }) => ({
    owner: nameOf(owner, '').owner,
    sessions: sums.sessions,
    agents: sums.agents,
    sums: toSumsAnswer(sums),
    models: models.map(toModelAnswer),
    keys: keys.map(({ key, sums: keySums }) => ({ key: nameOf(owner, key).key, sums: toSumsAnswer(keySums) })),
  }));
}

async function findPartyNames(
  parts: Pick<AgentSessionParts, 'usage' | 'namesOf'>,
  parties: readonly KeyWithOwner[],
): Promise<(owner: SessionOwner, key: string) => Pick<AgentSession, 'owner' | 'key'>> {
  const senderOf = await nameSenders(parts, parties);
  return (owner, key) => {
    const party = parseSessionOwner(owner, key);
    const { key: keyName = { id: party.key, name: party.key }, owner: keyOwner } = senderOf(party);
    return { key: keyName, owner: keyOwner ?? { kind: 'key', ...keyName } };
  };
}

function toSumsAnswer(sums: StoredSums): SessionSums {
  const { requests, failed, promptTokens, cachedTokens, completionTokens, reasoningTokens, cost } = sums;
  const { queueMs, modelMs, toolMs } = sums;
  const tokens = { promptTokens, cachedTokens, completionTokens, reasoningTokens };
  return { requests, failed, ...tokens, cost: toDollars(cost), queueMs, modelMs, toolMs };
}

function toModelAnswer({ model, rule, tier, sums }: ModelSums): SessionModel {
  const { requests, promptTokens, cachedTokens, completionTokens, cost } = sums;
  return {
    model,
    ...(rule !== '' && { rule }),
    ...(tier !== '' && { tier }),
    sums: { requests, promptTokens, cachedTokens, completionTokens, cost: toDollars(cost) },
  };
}

function toAgentAnswer({ id, parent, type, startedAt, lastAt, sums }: StoredAgent): SessionAgent {
  return {
    ...(id !== undefined && { id }),
    ...(parent !== undefined && { parent }),
    ...(type !== undefined && { type }),
    ...(startedAt !== undefined && { startedAt }),
    ...(lastAt !== undefined && { lastAt }),
    sums: toSumsAnswer(sums),
  };
}

function toRunningAnswer({ request, agent, since, model }: RunningTurnStats): RunningTurn {
  return { request, since, ...(agent !== undefined && { agent }), ...(model !== undefined && { model }) };
}
