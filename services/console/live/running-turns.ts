import { maxTurns, type RunningTurnStats } from '#shared/broker/contract/ingress-stats.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';

/** Lists the turns of agent sessions that jobs serve, in the order of the jobs. A request that several jobs serve counts once. */
export function listRunningTurns(
  jobs: Iterable<Pick<Job, 'request' | 'queuedAt' | 'state' | 'attempt'>>,
): RunningTurnStats[] {
  const turns = new Map<string, RunningTurnStats>();
  for (const { request, queuedAt, state, attempt } of jobs) {
    if (!request.turn) continue;
    const { program, session, agent, parent, type, key, user, team } = request.turn;
    const { requestId } = request;
    // Clients choose the ids of requests, so ids are unique only among the requests of one key.
    const turnId = `${key} ${requestId}`;
    if (turns.has(turnId)) continue;
    const since = Math.round(performance.timeOrigin + queuedAt);
    const model = state === 'queued' ? undefined : attempt?.placement.model;
    turns.set(turnId, { request: requestId, key, user, team, program, session, agent, parent, type, since, model });
    if (turns.size === maxTurns) break;
  }
  return [...turns.values()];
}
