import { isFailing } from '#shared/broker/contract/announcement.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { PastEjection } from '#shared/broker/dispatch/workers/worker-health.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { LiveWorkerFacts, WorkerState } from '../contract/live.ts';
import { lastWorkers } from './last-workers.ts';

/** The part of a second by which a heartbeat may be late before it counts as missed. */
const lateHeartbeat = 0.5;

/**
 * Returns all workers as the pages show them.
 * @param now a time of `performance.now()`
 */
export function allWorkerFacts(workers: Pick<LiveWorkers, 'workers' | 'pools'>, now: number): LiveWorkerFacts[] {
  const last = lastWorkers(workers.pools());
  return Array.from(workers.workers(), (worker) => workerFacts(worker, now, last.get(worker.id)));
}

/**
 * Returns a worker as the pages show it.
 * @param now a time of `performance.now()`
 * @param lastFor see `lastWorkers`
 */
export function workerFacts(worker: LiveWorker, now: number, lastFor: string[] = []): LiveWorkerFacts {
  const { id, announcement, joinedAt, lastHeartbeatAt, health } = worker;
  const { tier, pool, models, tools, slots, startedAt, version, host, reason } = announcement;
  const busy = busySlots(worker);
  const [ejection] = health.ejections();
  const state = stateOf(worker);
  const past = health.lastEjection;
  return {
    id,
    tier,
    pool,
    models: models.map(({ id }) => id),
    tools: tools.map(({ name }) => name),
    slots,
    busy,
    state,
    ...(state === 'draining' && busy === 0 ? { safeToStop: true } : {}),
    ...(lastFor.length === 0 ? {} : { lastFor }),
    missedHeartbeats: Math.max(0, Math.floor((now - lastHeartbeatAt) / 1000 - lateHeartbeat)),
    startedAt,
    joinedAt: since1970(joinedAt),
    ...(past === undefined ? {} : { ejection: ejectionFacts(past) }),
    version,
    ...(host === undefined ? {} : { host }),
    ...(reason === undefined ? {} : { reason }),
    ...(state === 'ejected' && ejection ? { reason: ejection.reason } : {}),
  };
}

/** Returns the number of slots in use, according to this ingress. */
export function busySlots({ announcement: { slots }, otherJobs: others, ownJobs }: LiveWorker): number {
  return Math.min(slots, others + ownJobs);
}

/**
 * Returns a time in milliseconds since 1970.
 * @param time milliseconds of `performance.now()`
 */
export function since1970(time: number): number {
  return Math.round(performance.timeOrigin + time);
}

export function stateOf(worker: LiveWorker): WorkerState {
  const { pool, announcement, health } = worker;
  const { draining, accepting, reason, slots } = announcement;
  if (pool.contract === undefined) return 'incompatible';
  if (draining) return 'draining';
  if (isFailing(reason)) return 'failing';
  if (!accepting) return 'paused';
  if (health.isEjected()) return 'ejected';
  return busySlots(worker) >= slots ? 'full' : 'serving';
}

function ejectionFacts({
  model,
  reason,
  at,
  endedAt,
}: Readonly<PastEjection>): NonNullable<LiveWorkerFacts['ejection']> {
  return { model, reason, at: since1970(at), ...(endedAt === undefined ? {} : { endedAt: since1970(endedAt) }) };
}
