import type { AgentSession, SessionAgent } from '#shared/accounts/agent-sessions/agent-session.ts';
import { computeSessionId, sessionOwnerOf, type SessionOwner } from '#shared/accounts/agent-sessions/session-names.ts';
import { zeroSums } from '#shared/accounts/agent-sessions/session-sums.ts';
import { maySee, type UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { RunningTurnStats } from '#shared/broker/contract/ingress-stats.ts';
import { agentPrograms } from '#shared/core/agent-turn.ts';

/** Groups the running turns that a viewer may see by the id of their agent session, oldest first. */
export function groupBySession(
  turns: readonly RunningTurnStats[],
  viewer: UsageViewer,
  owner?: SessionOwner,
): Map<string, RunningTurnStats[]> {
  const visible = turns.filter(
    (turn) => maySee(viewer, turn) && (owner === undefined || sessionOwnerOf(turn) === owner),
  );
  const sorted = visible.sort((a, b) => a.since - b.since);
  return Map.groupBy(sorted, (turn) => computeSessionId(sessionOwnerOf(turn), turn.session));
}

/** Builds an agent session from its running turns, if it has no finished turn yet. Returns undefined if there are no running turns. */
export function buildSession(id: string, turns: readonly RunningTurnStats[]): AgentSession | undefined {
  const [first] = turns;
  if (!first) return undefined;
  return {
    id,
    owner: sessionOwnerOf(first),
    name: first.session,
    program: agentPrograms.find((program) => program === first.program) ?? 'other',
    key: first.key,
    startedAt: first.since,
    lastAt: turns.at(-1)?.since ?? first.since,
    sums: zeroSums(),
    models: [],
  };
}

/**
 * Returns the agents of a session that have finished turns, followed by those that have only running turns.
 * @param agents the agents with a finished turn
 * @param turns the running turns of the session
 */
export function addRunningAgents(agents: readonly SessionAgent[], turns: readonly RunningTurnStats[]): SessionAgent[] {
  const all = new Map(agents.map((agent) => [agent.id, agent]));
  for (const { agent, parent, type, since } of turns) {
    if (agent === undefined || all.has(agent)) continue;
    all.set(agent, { id: agent, parent, type, startedAt: since, lastAt: since, sums: zeroSums() });
  }
  return [...all.values()];
}

export function listRunningAgents(turns: readonly RunningTurnStats[]): string[] {
  return [...new Set(turns.flatMap(({ agent }) => agent ?? []))];
}
