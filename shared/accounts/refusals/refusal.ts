import type { RouterError } from '#shared/core/errors.ts';
import type { RefusedKey } from '../keys/invalid-key-error.ts';

/** A request that was answered with an error before any worker was given it. */
export interface Refusal {
  requestId: string;
  error: Pick<RouterError, 'code' | 'message' | 'byUpstream' | 'original'>;
  /** Undefined where the request named no key that is known. */
  key: RefusedKey | undefined;
  /** The name that it asked for, of a model or a tool; undefined where it was not read. */
  asked: string | undefined;
}
