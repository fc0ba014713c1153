import type { AgentSession, SessionAgent } from '#shared/accounts/ledger/agent-sessions/agent-session.ts';
import {
  computeSessionId,
  toSessionOwner,
  type SessionOwner,
} from '#shared/accounts/ledger/agent-sessions/session-names.ts';
import { createZeroSums } from '#shared/accounts/ledger/agent-sessions/session-sums.ts';
import { maySee, type UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { RunningTurnStats } from '#shared/broker/contract/ingress-stats.ts';
import { agentPrograms } from '#shared/core/agent-turn.ts';

/** Groups running turns by the id of their agent session, the oldest turn first. Leaves out turns that the viewer may not see. */
export function groupBySession(
  turns: readonly RunningTurnStats[],
  viewer: UsageViewer,
  owner?: SessionOwner,
): Map<string, RunningTurnStats[]> {
  const visible = turns.filter(
    (turn) => maySee(viewer, turn) && (owner === undefined || toSessionOwner(turn) === owner),
  );
  const sorted = visible.sort((a, b) => a.since - b.since);
  return Map.groupBy(sorted, (turn) => computeSessionId(toSessionOwner(turn), turn.session));
}

/** Builds an agent session that has only running turns. Returns undefined if there are none. */
export function buildSession(id: string, turns: readonly RunningTurnStats[]): AgentSession | undefined {
  const [first] = turns;
  if (!first) return undefined;
  return {
    id,
    owner: toSessionOwner(first),
    name: first.session,
    program: agentPrograms.find((program) => program === first.program) ?? 'other',
    key: first.key,
    startedAt: first.since,
    lastAt: turns.at(-1)?.since ?? first.since,
    sums: createZeroSums(),
    models: [],
  };
}

/**
 * Returns the agents of a session: first the agents with finished turns, then the agents with running turns only.
 * @param agents the agents with a finished turn
 * @param turns the running turns of the session
 */
export function addRunningAgents(agents: readonly SessionAgent[], turns: readonly RunningTurnStats[]): SessionAgent[] {
  const agentsById = new Map(agents.map((agent) => [agent.id, agent]));
  for (const { agent, parent, type, since } of turns) {
    if (agent === undefined || agentsById.has(agent)) continue;
    agentsById.set(agent, { id: agent, parent, type, startedAt: since, lastAt: since, sums: createZeroSums() });
  }
  return [...agentsById.values()];
}

export function listRunningAgents(turns: readonly RunningTurnStats[]): string[] {
  return [...new Set(turns.flatMap(({ agent }) => agent ?? []))];
}
