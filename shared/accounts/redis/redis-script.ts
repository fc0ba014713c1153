import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { storeUnavailable } from './store-unavailable.ts';

/**
 * A Lua script that Redis runs as one atomic operation. Its text is sent once, and then only its digest; what is sent on one
 * connection runs in that order, unless Redis was restarted and has to be sent a text again.
 */
export class RedisScript {
  readonly #text: string;
  readonly #digest: string;
  #isSent = false;

  constructor(text: string) {
    this.#text = text;
    this.#digest = createHash('sha1').update(text).digest('hex');
  }

  /**
   * Runs the script with its ARGV; it takes no KEYS.
   * @throws RouterError `store_unavailable`; the script may have been run all the same
   */
  async run(redis: Redis, args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await (this.#isSent ? redis.evalsha(this.#digest, 0, ...args) : this.#send(redis, args));
    } catch (error) {
      if (!isUnknownScript(error)) throw storeUnavailable(error);
    }
    try {
      return await this.#send(redis, args);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }

  #send(redis: Redis, args: readonly (string | number)[]): Promise<unknown> {
    this.#isSent = true;
    return redis.eval(this.#text, 0, ...args);
  }
}

/** Redis has not seen the script since it was started, and has done nothing. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
