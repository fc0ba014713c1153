import { maxTimelineAttempts, type UsageAttempt, type UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import { computeCost } from '#shared/accounts/prices/model-price.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { Purpose } from '#shared/core/purpose.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { RequestOrigin } from './caller.ts';
import type { PriceLookup } from './estimate-amount.ts';

export interface FinishedRequest {
  origin: RequestOrigin;
  format: string;
  operation: Operation;
  /** The requested name of a model or a tool. */
  asked: string;
  purpose: Purpose | undefined;
  /** The turn of an agent session, if the request named one. */
  turn?: AgentTurn | undefined;
  report: JobReport;
  usage: Usage;
  reservation: Reservation | undefined;
}

/** Computes the cost of a request in nano-dollars; 0 if no worker served it. */
export function computeRequestCost(
  { report, usage }: Pick<FinishedRequest, 'report' | 'usage'>,
  priceOf: PriceLookup,
): number {
  const { attempt } = report;
  return attempt ? computeCost(usage, priceOf(attempt.worker.announcement.tier, attempt.placement.model)) : 0;
}

export function buildUsageRecord(request: FinishedRequest, cost: number): UsageRecord {
  const { origin, format, operation, asked, purpose, turn, report, usage } = request;
  const { requestId, identity, isRecorded } = origin;
  const { attempt, queuedAt, claimedAt, firstByteAt, endedAt, attempts, state, error } = report;
  const { id: keyId, name, kind, ownerId } = identity;
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, units } = usage;
  return {
    id: requestId,
    at: Math.round(Date.now() - (performance.now() - queuedAt)),
    key: { id: keyId, name },
    owner: ownerId !== undefined && kind !== 'router' ? { kind, id: ownerId } : undefined,
    format,
    operation,
    asked,
    purpose,
    turn,
    recorded: isRecorded === true ? true : undefined,
    model: attempt?.placement.model,
    rule: attempt?.placement.rule,
    tier: attempt?.worker.announcement.tier,
    worker: attempt?.worker.id,
    outcome: state === 'cancelled' || state === 'done' ? state : 'failed',
    code: error?.code,
    attempts,
    queueMs: computeMsBetween(queuedAt, claimedAt),
    firstTokenMs: computeMsBetween(queuedAt, firstByteAt),
    totalMs: computeMsBetween(queuedAt, endedAt) ?? 0,
    promptTokens,
    cachedTokens,
    completionTokens,
    reasoningTokens,
    images: units?.images,
    seconds: units?.seconds,
    characters: units?.characters,
    searches: units?.searches,
    cost,
    timeline: report.timeline.length > 0 ? toTimeline(report) : undefined,
  };
}

/** Converts the attempts of a job to times since the job was queued. Of many attempts, keeps the first ones and the last one. */
function toTimeline({ queuedAt, timeline }: Pick<JobReport, 'queuedAt' | 'timeline'>): UsageAttempt[] {
  const { length } = timeline;
  return timeline
    .filter((_, index) => index < maxTimelineAttempts - 1 || index === length - 1)
    .map(({ worker, isOffered, waitingSince, assignedAt, begunAt, firstDataAt, endedAt, end }) => ({
      worker,
      offered: isOffered,
      waitMs: computeMsBetween(queuedAt, waitingSince) ?? 0,
      givenMs: computeMsBetween(queuedAt, assignedAt) ?? 0,
      begunMs: computeMsBetween(queuedAt, begunAt),
      firstMs: computeMsBetween(queuedAt, firstDataAt),
      endMs: computeMsBetween(queuedAt, endedAt) ?? 0,
      end,
    }));
}

function computeMsBetween(start: number, end: number | undefined): number | undefined {
  return end === undefined ? undefined : Math.round((end - start) * 10) / 10;
}
