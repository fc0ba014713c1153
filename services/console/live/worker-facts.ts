import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorkerFacts, WorkerState } from '../contract/live.ts';

/** The part of a second by which a heartbeat may be late before it counts as missed. */
const lateHeartbeat = 0.5;

/**
 * A worker as the pages show it.
 * @param now a time of `performance.now()`
 */
export function workerFacts(
  { id, announcement, pool, lastHeartbeatAt, held, others }: LiveWorker,
  now: number,
): LiveWorkerFacts {
  const { tier, pool: token, models, tools, slots, startedAt, version, host } = announcement;
  const busy = Math.min(slots, others + held);
  return {
    id,
    tier,
    pool: token,
    models: models.map(({ id }) => id),
    tools: tools.map(({ name }) => name),
    slots,
    busy,
    state: pool.contract === undefined ? 'incompatible' : stateOf(announcement, busy),
    missedHeartbeats: Math.max(0, Math.floor((now - lastHeartbeatAt) / 1000 - lateHeartbeat)),
    startedAt,
    version,
    ...(host === undefined ? {} : { host }),
  };
}

function stateOf({ draining, accepting, slots }: LiveWorker['announcement'], busy: number): WorkerState {
  if (draining) return 'draining';
  if (!accepting) return 'paused';
  return busy >= slots ? 'full' : 'serving';
}
