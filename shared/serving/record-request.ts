import type { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { Refusal } from '#shared/accounts/ledger/refusals/refusal-sampler.ts';
import { errorTable, type RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { PriceLookup } from './estimate-amount.ts';
import { computeRequestCost, buildUsageRecord, type FinishedRequest } from './usage-record.ts';

export interface RecordParts {
  log: Logger;
  metrics: { countJob(format: string, report: JobReport): void; countRule(rule: string): void };
  priceOf: PriceLookup;
  ledger: Pick<UsageLedger, 'add'>;
  /** Called for a refused job, see `wasRefused`; the ledger records all other requests. */
  onRefusal: (refusal: Refusal) => void;
}

/**
 * Creates the function that records a finished request. The function commits the reservation, writes to ledger, metrics and trace, and logs
 * one line.
 */
export function createRequestRecorder({ log, metrics, priceOf, ledger, onRefusal }: RecordParts) {
  return (request: FinishedRequest): void => {
    const { origin, format, operation, asked, purpose, report, usage, reservation } = request;
    const { requestId, identity, trace } = origin;
    const { attempts, state, error } = report;
    const cost = computeRequestCost(request, priceOf);
    // The commit comes first, because a reservation that is neither committed nor released is renewed as long as this process lives.
    reservation?.commit({ tokens: usage.promptTokens + usage.completionTokens, cost });
    metrics.countJob(format, report);
    const entry = buildUsageRecord(request, cost);
    const { model, rule, tier, worker } = entry;
    if (rule !== undefined) metrics.countRule(rule);
    if (error && wasRefused(report)) onRefusal({ requestId, error, key: identity, asked });
    else ledger.add(entry);

    trace?.set({
      'rtr.format': format,
      'rtr.purpose': purpose,
      'rtr.rule': rule,
      'rtr.outcome': state,
      'rtr.tier': tier,
      'rtr.worker': worker,
      'rtr.attempts': attempts,
      [operation === 'execute_tool' ? names.toolName : names.requestModel]: asked,
      [names.responseModel]: operation === 'execute_tool' ? undefined : model,
    });
    if (error) traceError(trace, error);

    const hasMoved = report.moves.length > 0;
    const facts = {
      requestId,
      traceId: trace?.traceId,
      keyId: identity.id,
      format,
      outcome: state,
      code: error?.code,
      purpose,
      rule,
      model,
      tier,
      worker,
      attempts,
      moves: hasMoved ? report.moves : undefined,
      continuations: hasMoved ? report.continuations : undefined,
      queueMs: entry.queueMs,
      firstByteMs: entry.firstTokenMs,
      ms: entry.totalMs,
      usage,
    };
    if (error) log.warn({ ...facts, err: error }, 'request failed');
    else log.info(facts, state === 'cancelled' ? 'client went away' : 'request served');
  };
}

/** Writes a request's error to its span. Errors of the client (4xx) do not fail the span. */
export function traceError(span: TraceSpan | undefined, { code }: Pick<RouterError, 'code'>): void {
  if (errorTable[code].status >= 500) span?.fail(code);
  else span?.set({ [names.errorType]: code });
}

/**
 * Error codes of refused jobs. A job is refused if the queue is full, if its wait would be too long, or if the same request has killed two
 * workers.
 */
const refusalCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['overloaded', 'workers_died']);

/** Whether a job was refused before any worker got it. A job that waited until a timeout was not refused. */
export function wasRefused({ attempts, error }: Pick<JobReport, 'attempts' | 'error'>): boolean {
  return attempts === 0 && error !== undefined && refusalCodes.has(error.code);
}
