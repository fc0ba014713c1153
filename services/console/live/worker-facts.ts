import { isFailing } from '#shared/broker/contract/announcement.ts';
import type { LivePool, LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { PastEjection } from '#shared/broker/dispatch/workers/worker-health.ts';
import type { LiveWorkerFacts, WorkerState } from '../contract/live.ts';
import { findLastWorkers } from './last-workers.ts';

/** Seconds by which a heartbeat may be late before it counts as missed. */
const heartbeatSlackSeconds = 0.5;

/**
 * Converts workers into the API's answers.
 * @param pools all pools
 * @param now a time of `performance.now()`
 */
export function listWorkerFacts(
  workers: Iterable<LiveWorker>,
  pools: Iterable<LivePool>,
  now: number,
): LiveWorkerFacts[] {
  const lastWorkers = findLastWorkers(pools);
  return Array.from(workers, (worker) => toWorkerFacts(worker, now, lastWorkers.get(worker.id)));
}

/**
 * Converts a worker into the API's answer.
 * @param now a time of `performance.now()`
 * @param lastFor the models and tools that only this worker serves
 */
export function toWorkerFacts(worker: LiveWorker, now: number, lastFor: string[] = []): LiveWorkerFacts {
  const { id, announcement, joinedAt, lastHeartbeatAt, health } = worker;
  const { tier, pool, models, tools, slots, startedAt, version, host, reason } = announcement;
  const busy = countBusySlots(worker);
  const [ejection] = health.ejections();
  const state = findState(worker);
  const lastEjection = health.lastEjection;
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
    missedHeartbeats: Math.max(0, Math.floor((now - lastHeartbeatAt) / 1000 - heartbeatSlackSeconds)),
    startedAt,
    joinedAt: toUnixMs(joinedAt),
    ...(lastEjection === undefined ? {} : { ejection: toEjectionFacts(lastEjection) }),
    version,
    ...(host === undefined ? {} : { host }),
    ...(reason === undefined ? {} : { reason }),
    ...(state === 'ejected' && ejection ? { reason: ejection.reason } : {}),
  };
}

/** Returns the number of slots in use, according to this ingress. */
export function countBusySlots({ announcement: { slots }, otherJobs, ownJobs }: LiveWorker): number {
  return Math.min(slots, otherJobs + ownJobs);
}

/**
 * Returns a time in milliseconds since 1970.
 * @param time milliseconds of `performance.now()`
 */
export function toUnixMs(time: number): number {
  return Math.round(performance.timeOrigin + time);
}

export function findState(worker: LiveWorker): WorkerState {
  const { pool, announcement, health } = worker;
  const { draining, accepting, reason, slots } = announcement;
  if (pool.contract === undefined) return 'incompatible';
  if (draining) return 'draining';
  if (isFailing(reason)) return 'failing';
  if (!accepting) return 'paused';
  if (health.isEjected()) return 'ejected';
  return countBusySlots(worker) >= slots ? 'full' : 'serving';
}

function toEjectionFacts({
  model,
  reason,
  ejectedAt: at,
  endedAt,
}: Readonly<PastEjection>): NonNullable<LiveWorkerFacts['ejection']> {
  return { model, reason, at: toUnixMs(at), ...(endedAt === undefined ? {} : { endedAt: toUnixMs(endedAt) }) };
}
