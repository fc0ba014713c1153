import type { Response } from 'express';
import type { Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { costOf } from '#shared/accounts/prices/model-price.ts';
import type { Logger } from '#shared/core/log.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { JobReport } from '#shared/broker/dispatch/job.ts';
import type { Operation } from '#shared/broker/contract/job-contract.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { PriceOf } from './estimate-amount.ts';
import type { RequestMetrics } from '../../services/ingress/metrics/request-metrics.ts';
import { requestIdOf } from '../../services/ingress/http/request-id.ts';
import { traceError, traceOf } from '../../services/ingress/http/trace-request.ts';
import { identityOf } from '../../services/ingress/http/require-key.ts';

/** A job that is over. */
export interface FinishedJob {
  response: Response;
  format: ClientFormat;
  operation: Operation;
  /** The name that the client asked for, of a model or a tool. */
  asked: string;
  report: JobReport;
  /** What it came to. */
  usage: Usage;
  /** What was held for it. */
  reservation: Reservation | undefined;
}

export interface RecordParts {
  log: Logger;
  metrics: Pick<RequestMetrics, 'countJob'>;
  priceOf: PriceOf;
  ledger: Pick<UsageLedger, 'add'>;
}

/** Counts every job that is over: for its limits, in the ledger, in the metrics, and in one log line. */
export function recordJob({ log, metrics, priceOf, ledger }: RecordParts) {
  return (job: FinishedJob): void => {
    const { response, format, operation, asked, report, usage, reservation } = job;
    const { served, queuedAt, claimedAt, firstByteAt, endedAt, attempts, state, error } = report;
    const model = served?.placement.model;
    const { id: worker, announcement } = served?.worker ?? {};
    const tier = announcement?.tier;
    const cost = model === undefined ? 0 : costOf(usage, priceOf(tier, model));
    // First of all: a hold that is not settled is renewed for as long as this process lives.
    reservation?.commit({ tokens: usage.promptTokens + usage.completionTokens, cost });
    metrics.countJob(format.name, report);

    const { id: keyId, name, kind, ownerId } = identityOf(response);
    const requestId = requestIdOf(response);
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
      format: format.name,
      operation,
      asked,
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

    const trace = traceOf(response);
    trace?.set({
      'rtr.format': format.name,
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
      format: format.name,
      outcome: state,
      code: error?.code,
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
