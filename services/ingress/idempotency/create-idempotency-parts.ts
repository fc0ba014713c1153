import type { Registry } from 'prom-client';
import { IdempotentAnswers } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import {
  toIdempotencyBounds,
  type idempotencySettings,
} from '#shared/accounts/idempotent-answers/idempotency-settings.ts';
import type { storedSettings } from '#shared/accounts/stored-bounds.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import type { ServingResources } from '#shared/serving/open/open-serving.ts';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import type { IngressConfig } from '../config.ts';
import { unreadMs } from '../http/unread/unread-outputs.ts';
import { createKeyedCounter } from '../metrics/keyed-counter.ts';
import type { IdempotencyParts } from './idempotency-parts.ts';

/** Largest total of bytes that wait to be written to Redis, over all answers to requests with idempotency keys. */
const maxUnwritten = 32 * 1024 * 1024;

/** Milliseconds between two pings of Redis. */
const pingMs = 1_000;

export interface CreateIdempotencyOptions extends Pick<
  IdempotencyParts,
  'outages' | 'changes' | 'limits' | 'findKnownRefusal' | 'places' | 'unreadOutputs' | 'openRequests' | 'closing'
> {
  config: Pick<
    IngressConfig,
    'RTR_PREFIX' | 'KEEP_ALIVE_MS' | 'BODY_TIMEOUT_MS' | keyof typeof idempotencySettings | keyof typeof storedSettings
  >;
  serving: Pick<ServingResources, 'storedRedis' | 'ownerKeys' | 'store'>;
  registry: Registry;
  log: Logger;
  releases: Releases;
}

/** Creates the components that serve requests with an idempotency key. */
export function createIdempotencyParts(options: CreateIdempotencyOptions): IdempotencyParts {
  const { config, serving, outages, changes, limits, findKnownRefusal, places, unreadOutputs, openRequests, closing } =
    options;
  const { registry, log, releases } = options;
  const { storedRedis, ownerKeys: keys, store } = serving;
  // Without pings, an idle connection would not show that Redis hangs, and leases of idempotency keys would end meanwhile.
  const pings = setInterval(() => void storedRedis.ready(), pingMs);
  releases.add('pings of redis', () => clearInterval(pings));
  return {
    answers: new IdempotentAnswers(storedRedis.redis, `${config.RTR_PREFIX}:`, {
      bounds: toIdempotencyBounds(config),
      keys,
    }),
    outages,
    changes,
    limits,
    findKnownRefusal,
    places,
    journalBudget: new StoreQueueBudget(maxUnwritten),
    unreadOutputs,
    openRequests,
    store,
    graceMs: config.IDEMPOTENCY_GRACE_MS,
    keepAliveMs: config.KEEP_ALIVE_MS,
    unreadMs,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    closing,
    count: createKeyedCounter(registry),
    log,
  };
}
