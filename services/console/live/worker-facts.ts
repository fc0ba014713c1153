import { isFailing } from '#shared/broker/contract/announcement.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorkerFacts, WorkerState } from '../contract/live.ts';

/** The part of a second by which a heartbeat may be late before it counts as missed. */
const lateHeartbeat = 0.5;

/**
 * A worker as the pages show it.
 * @param now a time of `performance.now()`
 */
export function workerFacts(
  { id, announcement, pool, lastHeartbeatAt, held, others, health }: LiveWorker,
  now: number,
): LiveWorkerFacts {
  const { tier, pool: token, models, tools, slots, startedAt, version, host, reason } = announcement;
  const busy = Math.min(slots, others + held);
  const [ejection] = health.ejections();
  const state = pool.contract === undefined ? 'incompatible' : stateOf(announcement, busy, ejection !== undefined);
  return {
    id,
    tier,
    pool: token,
    models: models.map(({ id }) => id),
    tools: tools.map(({ name }) => name),
    slots,
    busy,
    state,
    missedHeartbeats: Math.max(0, Math.floor((now - lastHeartbeatAt) / 1000 - lateHeartbeat)),
    startedAt,
    version,
    ...(host === undefined ? {} : { host }),
    ...(reason === undefined ? {} : { reason }),
    ...(state === 'ejected' && ejection ? { reason: ejection.reason } : {}),
  };
}

function stateOf(
  { draining, accepting, reason, slots }: LiveWorker['announcement'],
  busy: number,
  isEjected: boolean,
): WorkerState {
  if (draining) return 'draining';
  if (isFailing(reason)) return 'failing';
  if (!accepting) return 'paused';
  if (isEjected) return 'ejected';
  return busy >= slots ? 'full' : 'serving';
}
