import { LRUCache } from 'lru-cache';
import type { RouterError } from '#shared/core/errors.ts';
import { upstreamLimitOf, type UpstreamLimit } from '../slots/upstream-limit.ts';

/** Lines that are known at once. */
const mostLines = 10_000;

/**
 * Lines that upstreams have refused for now. A line that is always refused, for instance because it is larger than the rate allows, is
 * tried more and more rarely, whatever becomes of other lines of its model, and also when its slice is begun anew.
 */
export class RefusedLines {
  readonly #lines = new LRUCache<string, { times: number; limit: UpstreamLimit }>({ max: mostLines });

  /** The limit that a line waits for; undefined if it may be tried. */
  limitOf(requestId: string, now = Date.now()): UpstreamLimit | undefined {
    const limit = this.#lines.get(requestId)?.limit;
    return limit && limit.until > now ? limit : undefined;
  }

  /** A line was refused. */
  refused(requestId: string, model: string, error: RouterError, now = Date.now()): void {
    const times = (this.#lines.get(requestId)?.times ?? 0) + 1;
    this.#lines.set(requestId, { times, limit: upstreamLimitOf(model, error, times, now) });
  }

  /** A line is over. */
  forget(requestId: string): void {
    this.#lines.delete(requestId);
  }
}
