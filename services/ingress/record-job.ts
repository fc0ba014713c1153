import type { Response } from 'express';
import type { Logger } from '#shared/core/log.ts';
import type { JobReport } from '#shared/broker/dispatch/job.ts';
import type { EdgeFormat } from './edge-family.ts';
import type { IngressMetrics } from './metrics.ts';
import { requestIdOf } from './request-id.ts';
import { identityOf } from './require-key.ts';

/** Writes one log line and the metrics for every job that is over. */
export function recordJob(log: Logger, metrics: IngressMetrics) {
  return (response: Response, family: EdgeFormat, report: JobReport): void => {
    metrics.countJob(family.name, report);
    const { served, queuedAt, claimedAt, firstByteAt, endedAt, attempts, state, end, error } = report;
    const facts = {
      requestId: requestIdOf(response),
      keyId: identityOf(response).id,
      family: family.name,
      outcome: state,
      code: error?.code,
      model: served?.placement.model,
      tier: served?.worker.announcement.tier,
      worker: served?.worker.announcement.worker,
      attempts,
      queueMs: since(queuedAt, claimedAt),
      firstByteMs: since(queuedAt, firstByteAt),
      ms: since(queuedAt, endedAt),
      usage: end?.usage,
    };
    if (error) log.warn({ ...facts, err: error }, 'request failed');
    else log.info(facts, state === 'cancelled' ? 'client went away' : 'request served');
  };
}

function since(start: number, end: number | undefined): number | undefined {
  return end === undefined ? undefined : Math.round((end - start) * 10) / 10;
}
