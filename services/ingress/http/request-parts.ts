import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { RefusalLedger } from '#shared/accounts/ledger/refusals/refusal-ledger.ts';
import type { Refusal } from '#shared/accounts/ledger/refusals/refusal-sampler.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { ToolAccountLinks } from '#shared/connections/tool-account-links.ts';
import type { ErrorCode } from '#shared/core/errors.ts';
import { LinkedTools } from '#shared/serving/connected/linked-tools.ts';
import type { CountedLimits } from '#shared/serving/count-request.ts';
import type { PriceLookup } from '#shared/serving/estimate-amount.ts';
import { createRequestRecorder } from '#shared/serving/record-request.ts';
import type { ToolComponents } from '#shared/serving/serve-tool.ts';
import type { FinishedRequest } from '#shared/serving/usage-record.ts';
import type { IngressContext } from '../context.ts';
import type { CountRefusal } from './answer-error.ts';
import type { HeldBodies } from './held-bodies.ts';
import { createBodyReader } from './read-body.ts';
import type { RequireKeyParts, VerifySession } from './require-key.ts';

/** The parts that all routes share which serve requests with a key. */
export type RequestParts = ReturnType<typeof createRequestParts>;

export interface RequestFeatures extends Pick<RequireKeyParts, 'verifyKey' | 'noteUse'> {
  heldBodies: HeldBodies;
  verifySession: VerifySession;
  /** Finds the tools that people have linked. */
  toolLinks: ToolAccountLinks;
  refusals: RefusalLedger;
  /** Counts requests for the stats that ingress nodes send to each other. */
  meter: {
    countRefusal(code: ErrorCode): void;
    countJob(requestId: string, identity: KeyIdentity, report: JobReport): void;
  };
}

/** Creates the parts that all routes share which serve requests with a key: who sends it, its body, its limits, and its record. */
export function createRequestParts(context: IngressContext, features: RequestFeatures) {
  const { config, log, metrics, serving, outages, unreadOutputs, ending } = context;
  const { heldBodies, verifyKey, verifySession, noteUse, toolLinks, refusals, meter } = features;
  const { dispatcher, workers, ledger, prices, store } = serving;
  const limits: CountedLimits['limits'] = {
    // If the reply of Redis is lost, the reservation expires within a minute.
    reserve: async (parties, amount) => {
      const verdict = await outages.retry(async () => {
        store.assertIntact();
        return serving.limits.reserve(parties, amount);
      });
      if (!verdict.granted) metrics.countLimitRefusal(verdict.error.code);
      return verdict;
    },
  };
  const findKnownRefusal: CountedLimits['findKnownRefusal'] = (parties) => {
    const refusal = serving.limits.findKnownRefusal(parties);
    if (refusal) metrics.countLimitRefusal(refusal.code);
    return refusal;
  };
  const onRefusal = (refusal: Refusal): void => {
    meter.countRefusal(refusal.error.code);
    refusals.add(refusal);
  };
  const countRefusal: CountRefusal = (refused) => {
    metrics.countRefusal(refused.format, refused.error);
    // A client sends the same request again over HTTP after a refused upgrade. Only the second request is counted.
    if (refused.error.code !== 'upgrade_refused') onRefusal(refused);
  };
  const priceOf: PriceLookup = (tier, model) => prices.priceOf(tier, model);
  const recordFinished = createRequestRecorder({ log, metrics, priceOf, ledger, onRefusal });
  const record = (request: FinishedRequest): void => {
    recordFinished(request);
    meter.countJob(request.origin.requestId, request.origin.identity, request.report);
  };
  const toolParts: ToolComponents = { dispatcher, workers, limits, noWorkerMs: config.NO_WORKER_TIMEOUT_MS, record };
  return {
    ...toolParts,
    personalTools: new LinkedTools(toolLinks, toolParts),
    findKnownRefusal,
    priceOf,
    countRefusal,
    verifyKey,
    verifySession,
    noteUse,
    heldBodies,
    unreadOutputs,
    readBody: createBodyReader({ maxBytes: config.MAX_BODY_BYTES, timeoutMs: config.BODY_TIMEOUT_MS }),
    /** Milliseconds without a byte after which a client that uploads or downloads is disconnected. */
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    /** Whether the time to drain is over and the process is about to exit. */
    isEnding: (): boolean => ending.signal.aborted,
    store,
    log,
  };
}
