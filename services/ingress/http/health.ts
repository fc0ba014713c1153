import type { Request, Response } from 'express';
import { isFailing } from '#shared/broker/contract/announcement.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { version } from '#shared/core/version.ts';
import {
  readDependencies,
  type DependencyHealth,
  type DependencyParts,
} from '#shared/serving/open/read-dependencies.ts';

/** The body of `GET /health`. */
export interface Health extends DependencyHealth {
  /** With `draining`, the status is 503, so that load balancers stop sending requests. Requests that still arrive are served. */
  status: 'ok' | 'degraded' | 'draining';
  version: string;
  /** Number of live workers that take jobs, by tier. */
  workers: Record<Tier, number>;
  /** Number of live workers whose upstream fails. */
  failing: number;
}

export interface HealthParts extends DependencyParts {
  workers: LiveWorkers;
  isDraining: () => boolean;
}

/** Reads the state of broker, Redis, store and workers. Resolves within about a second, even when Redis hangs. */
export async function readHealth(parts: HealthParts): Promise<Health> {
  const { workers, isDraining } = parts;
  const counts = Object.fromEntries(tiers.map((tier) => [tier, 0])) as Record<Tier, number>;
  let failing = 0;
  for (const { announcement } of workers.workers()) {
    if (announcement.accepting) counts[announcement.tier] += 1;
    if (isFailing(announcement.reason)) failing += 1;
  }
  const { areHealthy, health } = await readDependencies(parts);
  const status = isDraining() ? 'draining' : areHealthy ? 'ok' : 'degraded';
  return { status, version, ...health, workers: counts, failing };
}

/** Handles `GET /health`: status 503 while draining, so that load balancers choose another node; otherwise 200. */
export function answerHealth(read: () => Promise<Health>) {
  return async (_: Request, response: Response): Promise<void> => {
    const answer = await read();
    response.status(answer.status === 'draining' ? 503 : 200).json(answer);
  };
}
