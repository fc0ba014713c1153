import type {
  AgentSession as StoredSession,
  AgentSessionTree as StoredTree,
  ModelSums,
  SessionAgent as StoredAgent,
} from '#shared/accounts/agent-sessions/agent-session.ts';
import type { OwnerSums } from '#shared/accounts/agent-sessions/agent-session-reader.ts';
import {
  parseSessionOwner,
  type KeyWithOwner,
  type SessionOwner,
} from '#shared/accounts/agent-sessions/session-names.ts';
import type { SessionSums as StoredSums } from '#shared/accounts/agent-sessions/session-sums.ts';
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
import type { AgentSessionParts } from './agent-session-parts.ts';
import { agentsWith } from './running-sessions.ts';

export interface SeenSession {
  session: StoredSession;
  turns: readonly RunningTurnStats[];
  /** The number of agents without a finished turn. */
  newAgents: number;
}

/** The sums of one owner name at most this many keys. */
const maxKeys = 20;

/** Returns agent sessions for people to read, with the names of owners and keys, and with costs in dollars. */
export async function sessionAnswers(
  parts: Pick<AgentSessionParts, 'usage' | 'namesOf'>,
  seen: readonly SeenSession[],
): Promise<AgentSession[]> {
  const nameOf = await partyNames(
    parts,
    seen.map(({ session: { owner, key } }) => parseSessionOwner(owner, key)),
  );
  return seen.map(({ session, turns, newAgents }) => {
    const { id, name, program, owner, key, startedAt, lastAt, sums, models } = session;
    return {
      id,
      name,
      program,
      ...nameOf(owner, key),
      startedAt,
      lastAt: Math.max(lastAt, turns.at(-1)?.since ?? 0),
      sums: sumsAnswer(sums),
      agents: sums.agents + newAgents,
      models: models.map(modelAnswer),
      running: turns.map(runningAnswer),
    };
  });
}

/** Returns one agent session as `sessionAnswers` does, with the tree of its agents. */
export async function treeAnswer(
  parts: Pick<AgentSessionParts, 'usage' | 'namesOf'>,
  session: StoredTree,
  turns: readonly RunningTurnStats[],
): Promise<AgentSessionTree> {
  const tree = agentsWith(session.agents, turns);
  const [answer] = await sessionAnswers(parts, [{ session, turns, newAgents: tree.length - session.agents.length }]);
  if (!answer) throw new Error('a session has no answer');
  return { ...answer, main: sumsAnswer(session.main), tree: tree.map(agentAnswer) };
}

/** Returns the sums of owners for people to read, the highest cost first. Owners without a session are left out. */
export async function ownerSumsAnswers(
  parts: Pick<AgentSessionParts, 'usage' | 'namesOf'>,
  found: readonly OwnerSums[],
): Promise<AgentSessionSums[]> {
  const shown = found
    .filter(({ sums }) => sums.requests > 0)
    .map((of) => ({ ...of, keys: of.keys.slice(0, maxKeys) }))
    .sort((a, b) => b.sums.cost - a.sums.cost || b.sums.requests - a.sums.requests);
  const nameOf = await partyNames(
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
    sums: sumsAnswer(sums),
    models: models.map(modelAnswer),
    keys: keys.map(({ key, sums: ofKey }) => ({ key: nameOf(owner, key).key, sums: sumsAnswer(ofKey) })),
  }));
}

async function partyNames(
  parts: Pick<AgentSessionParts, 'usage' | 'namesOf'>,
  parties: readonly KeyWithOwner[],
): Promise<(owner: SessionOwner, key: string) => Pick<AgentSession, 'owner' | 'key'>> {
  const whoOf = await nameSenders(parts, parties);
  return (owner, key) => {
    const party = parseSessionOwner(owner, key);
    const { key: named = { id: party.key, name: party.key }, owner: of } = whoOf(party);
    return { key: named, owner: of ?? { kind: 'key', ...named } };
  };
}

function sumsAnswer(sums: StoredSums): SessionSums {
  const { requests, failed, promptTokens, cachedTokens, completionTokens, reasoningTokens, cost } = sums;
  const { queueMs, modelMs, toolMs } = sums;
  const tokens = { promptTokens, cachedTokens, completionTokens, reasoningTokens };
  return { requests, failed, ...tokens, cost: toDollars(cost), queueMs, modelMs, toolMs };
}

function modelAnswer({ model, rule, tier, sums }: ModelSums): SessionModel {
  const { requests, promptTokens, cachedTokens, completionTokens, cost } = sums;
  return {
    model,
    ...(rule !== '' && { rule }),
    ...(tier !== '' && { tier }),
    sums: { requests, promptTokens, cachedTokens, completionTokens, cost: toDollars(cost) },
  };
}

function agentAnswer({ id, parent, type, startedAt, lastAt, sums }: StoredAgent): SessionAgent {
  return {
    ...(id !== undefined && { id }),
    ...(parent !== undefined && { parent }),
    ...(type !== undefined && { type }),
    ...(startedAt !== undefined && { startedAt }),
    ...(lastAt !== undefined && { lastAt }),
    sums: sumsAnswer(sums),
  };
}

function runningAnswer({ request, agent, since, model }: RunningTurnStats): RunningTurn {
  return { request, since, ...(agent !== undefined && { agent }), ...(model !== undefined && { model }) };
}
