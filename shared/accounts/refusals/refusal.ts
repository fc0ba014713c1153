import type { RouterError } from '#shared/core/errors.ts';
import type { RefusedKey } from '../keys/invalid-key-error.ts';

/** A request that was answered with an error before any worker got it. */
export interface Refusal {
  requestId: string;
  error: Pick<RouterError, 'code' | 'message' | 'byUpstream' | 'original'>;
  /** The key of the request; undefined if the request had no known key. */
  key: RefusedKey | undefined;
  /** The requested name of a model or a tool; undefined if it was not read. */
  asked: string | undefined;
}
