import { LRUCache } from 'lru-cache';
import type { RouterError } from '#shared/core/errors.ts';
import { computeUpstreamLimit, type UpstreamLimit } from '../slots/upstream-limit.ts';

const maxLines = 10_000;

/**
 * Tracks the lines that upstreams have refused because of a rate limit or overload. A line that is always refused, for example because it
 * is larger than the rate allows, is tried more and more rarely. Its delays do not depend on other lines of the model, and continue to grow
 * when the slice is processed again.
 */
export class RefusedLines {
  readonly #lines = new LRUCache<string, { times: number; limit: UpstreamLimit }>({ max: maxLines });

  /** Returns the limit that a line waits for; undefined if the line may be tried. */
  findLimit(requestId: string, now = Date.now()): UpstreamLimit | undefined {
    const limit = this.#lines.get(requestId)?.limit;
    return limit && limit.until > now ? limit : undefined;
  }

  /** Records a refusal of a line. */
  noteRefusal(requestId: string, model: string, error: RouterError, now = Date.now()): void {
    const times = (this.#lines.get(requestId)?.times ?? 0) + 1;
    this.#lines.set(requestId, { times, limit: computeUpstreamLimit(model, error, times, now) });
  }

  remove(requestId: string): void {
    this.#lines.delete(requestId);
  }
}
