import type { Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { costOf } from '#shared/accounts/prices/model-price.ts';
import type { JobReport } from '#shared/broker/dispatch/job.ts';
import { errorTable, type RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { Purpose } from '#shared/core/purpose.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { PriceOf } from './estimate-amount.ts';
import type { RequestOrigin } from './caller.ts';

/** A dispatched request that is over. */
export interface FinishedRequest {
  origin: RequestOrigin;
  /** Name of the client's format. */
  format: string;
  operation: Operation;
  /** The name in the request, of a model or a tool. */
  asked: string;
  /** What the client sent it for, where known. */
  purpose: Purpose | undefined;
  report: JobReport;
  usage: Usage;
  reservation: Reservation | undefined;
}

export interface RecordParts {
  log: Logger;
  metrics: { countJob(format: string, report: JobReport): void; countRule(rule: string): void };
  priceOf: PriceOf;
  ledger: Pick<UsageLedger, 'add'>;
}

/** Records finished requests: against limits, in the ledger, metrics and trace, and in one log line. */
export function recordRequests({ log, metrics, priceOf, ledger }: RecordParts) {
  return (request: FinishedRequest): void => {
    const { origin, format, operation, asked, purpose, report, usage, reservation } = request;
    const { requestId, identity, trace } = origin;
    const { attempt, queuedAt, claimedAt, firstByteAt, endedAt, attempts, state, error } = report;
    const { model, rule } = attempt?.placement ?? {};
    const { id: worker, announcement } = attempt?.worker ?? {};
    const tier = announcement?.tier;
    const cost = model === undefined ? 0 : costOf(usage, priceOf(tier, model));
    // This comes first: a reservation that is neither committed nor released is renewed as long as this process lives.
    reservation?.commit({ tokens: usage.promptTokens + usage.completionTokens, cost });
    metrics.countJob(format, report);
    if (rule !== undefined) metrics.countRule(rule);

    const { id: keyId, name, kind, ownerId } = identity;
    const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = usage;
    const times = {
      queueMs: since(queuedAt, claimedAt),
      firstTokenMs: since(queuedAt, firstByteAt),
      totalMs: since(queuedAt, endedAt) ?? 0,
    };
    ledger.add({
      id: requestId,
      at: Math.round(Date.now() - (performance.now() - queuedAt)),
      key: { id: keyId, name },
      ...(ownerId !== undefined && kind !== 'router' && { owner: { kind, id: ownerId } }),
      format,
      operation,
      asked,
      purpose,
      rule,
      model,
      tier,
      worker,
      outcome: state === 'cancelled' || state === 'done' ? state : 'failed',
      code: error?.code,
      attempts,
      ...times,
      promptTokens,
      cachedTokens,
      completionTokens,
      reasoningTokens,
      cost,
    });

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

    const facts = {
      requestId,
      traceId: trace?.traceId,
      keyId,
      format,
      outcome: state,
      code: error?.code,
      purpose,
      rule,
      model,
      tier,
      worker,
      attempts,
      queueMs: times.queueMs,
      firstByteMs: times.firstTokenMs,
      ms: times.totalMs,
      usage,
    };
    if (error) log.warn({ ...facts, err: error }, 'request failed');
    else log.info(facts, state === 'cancelled' ? 'client went away' : 'request served');
  };
}

function since(start: number, end: number | undefined): number | undefined {
  return end === undefined ? undefined : Math.round((end - start) * 10) / 10;
}

/** Sets the error of a request in its span. Errors of the client (4xx) do not fail the span. */
export function traceError(span: TraceSpan | undefined, { code }: Pick<RouterError, 'code'>): void {
  if (errorTable[code].status >= 500) span?.fail(code);
  else span?.set({ [names.errorType]: code });
}
