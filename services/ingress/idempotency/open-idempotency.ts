import type { AnswerChanges } from '#shared/store/answer-journal/answer-changes.ts';
import { IdempotentAnswers } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import { toIdempotencyBounds } from '#shared/accounts/idempotent-answers/idempotency-settings.ts';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import type { IngressContext } from '../context.ts';
import { createErrorHandler } from '../http/answer-error.ts';
import type { FollowerPlaces } from '../http/follower-places.ts';
import type { RequestParts } from '../http/request-parts.ts';
import { unreadMs } from '../http/unread/unread-outputs.ts';
import { handleIdempotently, type HandleKeyed } from './handle-idempotently.ts';
import type { IdempotencyParts, KeyedOutcome } from './idempotency-parts.ts';
import { Counter, type Registry } from 'prom-client';

/** Largest total of bytes that wait to be written to Redis, over all answers to requests with idempotency keys. */
const maxUnwritten = 32 * 1024 * 1024;

/** Milliseconds between two pings of Redis. */
const pingMs = 1_000;

/** Opens the components that serve requests with an idempotency key, and returns the wrapper of the handlers of such requests. */
export function openIdempotency(
  { config, prefix, serving, storedOutages, openRequests, ending, metricsRegistry, log, releases }: IngressContext,
  requests: RequestParts,
  { changes, places }: { changes: AnswerChanges; places: FollowerPlaces },
): HandleKeyed {
  const { storedRedis, ownerKeys: keys, store } = serving;
  // Without pings, an idle connection would not show that Redis hangs, and leases of idempotency keys would end meanwhile.
  const pings = setInterval(() => void storedRedis.ready(), pingMs);
  releases.add('pings of redis', () => clearInterval(pings));
  const parts: IdempotencyParts = {
    answers: new IdempotentAnswers(storedRedis.redis, prefix, { bounds: toIdempotencyBounds(config), keys }),
    outages: storedOutages,
    changes,
    limits: requests.limits,
    findKnownRefusal: requests.findKnownRefusal,
    places,
    journalBudget: new StoreQueueBudget(maxUnwritten),
    unreadOutputs: requests.unreadOutputs,
    openRequests,
    store,
    graceMs: config.IDEMPOTENCY_GRACE_MS,
    keepAliveMs: config.KEEP_ALIVE_MS,
    unreadMs,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    closing: ending.signal,
    count: createKeyedCounter(metricsRegistry),
    log,
  };
  return (format, body, handler, isUncancelled = true) => {
    const route = { format, answerError: createErrorHandler(format, requests), body, isUncancelled };
    return handleIdempotently(handler, route, parts);
  };
}

const outcomes: readonly KeyedOutcome[] = ['executed', 'joined', 'replayed', 'resumed', 'abandoned'];

export function createKeyedCounter(registry: Registry): (outcome: KeyedOutcome) => void {
  const counter = new Counter({
    name: 'rtr_idempotent_requests_total',
    help: 'Requests with an idempotency key: executed, joined to a running execution, replayed, or resumed after an event; and executions abandoned because no client waited',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of outcomes) counter.inc({ outcome }, 0);
  return (outcome) => counter.inc({ outcome });
}
