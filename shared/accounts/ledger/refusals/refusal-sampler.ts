import { LRUCache } from 'lru-cache';
import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import type { RefusedKey } from '../../keys/invalid-key-error.ts';
import type { RefusalSample, SampleStream } from './refusal-sample.ts';

/** A request that was answered with an error before any worker got it. */
export interface Refusal {
  requestId: string;
  error: Pick<RouterError, 'code' | 'message' | 'byUpstream' | 'original'>;
  /** The key of the request; undefined if the request had no known key. */
  key: RefusedKey | undefined;
  /** The requested name of a model or a tool; undefined if it was not read. */
  asked: string | undefined;
}

/** Minimum milliseconds between two samples of the same key and code. */
const sampleEveryMs = 60_000;

/** Maximum of pairs of key and code that are remembered as sampled. */
const maxRemembered = 2_000;

/** Maximum of samples that wait to be written. */
const maxWaiting = 50;

/** The form of the names of models and tools that are stored. It allows no spaces, so that no sentence of a prompt is stored. */
const namePattern = /^[\w.:/@+-]{1,200}$/;

/** Takes samples of refusals, at most one a minute for each key and code. */
export class RefusalSampler {
  readonly #taken = new LRUCache<string, true>({ max: maxRemembered, ttl: sampleEveryMs });
  #waiting: { stream: SampleStream; sample: RefusalSample }[] = [];

  add({ requestId, error, key, asked }: Refusal, at: number): void {
    const { code } = error;
    const keyAndCode = `${code} ${key?.id ?? ''}`;
    if (this.#waiting.length >= maxWaiting || this.#taken.has(keyAndCode)) return;
    this.#taken.set(keyAndCode, true);
    const message = getSafeMessage(error);
    const { kind, ownerId } = key ?? {};
    this.#waiting.push({
      stream: key ? 'samples-of-keys' : 'samples-of-nobody',
      sample: {
        at,
        id: requestId,
        code,
        status: errorTable[code].status,
        ...(key && { key: key.id }),
        ...(ownerId !== undefined && kind !== undefined && kind !== 'router' && { owner: { kind, id: ownerId } }),
        ...(asked !== undefined && namePattern.test(asked) && { model: asked }),
        ...(message !== undefined && { message }),
      },
    });
  }

  /** Removes the waiting samples, and returns them. */
  take(): { stream: SampleStream; sample: RefusalSample }[] {
    const samples = this.#waiting;
    this.#waiting = [];
    return samples;
  }
}

/**
 * Error codes whose messages consist only of the router's own words, settings and counts. Messages of all other codes may contain parts of
 * the request: names, paths of fields, values.
 */
const safeCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'missing_key',
  'invalid_api_key',
  'invalid_json',
  'method_not_allowed',
  'upgrade_refused',
  'request_timeout',
  'body_too_large',
  'storage_quota_exceeded',
  'storage_full',
  'unsupported_encoding',
  'headers_too_large',
  'request_exceeds_limit',
  'rate_limit_exceeded',
  'token_limit_exceeded',
  'insufficient_quota',
  'workers_died',
  'overloaded',
  'store_unavailable',
  'broker_unavailable',
  'shutting_down',
]);

/** Returns the message of an error, unless it may contain a part of the request, or an upstream has written it. */
export function getSafeMessage({ code, message, byUpstream, original }: Refusal['error']): string | undefined {
  return safeCodes.has(code) && !byUpstream && !original ? message : undefined;
}
