import { setImmediate as turn } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { RedisConnection } from './connect-redis.ts';

/** Maximum turns of the event loop after a failed command until the library reports the loss of the connection. */
const maxTurns = 3;

/**
 * Lets requests wait while Redis is restarted, instead of failing them. A call that fails because Redis is unavailable is repeated when
 * Redis is available again, if the outage lasts at most `waitMs`. In a longer outage, every call fails at once, so that nothing piles up.
 */
export class ShortOutages {
  readonly #connection: Pick<RedisConnection, 'redis' | 'whenReady'>;
  readonly #waitMs: number;
  /**
   * When the connection was lost, or the wait for the first connection began, by `performance.now()`. Undefined while there is a
   * connection.
   */
  #outageSince: number | undefined;
  #outageEnd: Promise<boolean> | undefined;
  #losses = 0;

  /** @param waitMs milliseconds after the beginning of an outage until requests no longer wait: the time of a restart */
  constructor(connection: Pick<RedisConnection, 'redis' | 'whenReady'>, waitMs = 5_000) {
    this.#connection = connection;
    this.#waitMs = waitMs;
    const { redis } = connection;
    if (redis.status !== 'ready') this.#outageSince = performance.now();
    redis.on('ready', () => (this.#outageSince = undefined));
    redis.on('close', () => {
      this.#losses += 1;
      this.#outageSince ??= performance.now();
    });
  }

  /**
   * Calls the store. If the call fails in a short outage, it is repeated when the outage is over.
   * @param call must be safe to repeat after a failure, whether or not Redis has executed the command
   * @throws, or rejects with, the error of `call`
   */
  retry<Answer>(call: () => Promise<Answer>): Promise<Answer>;
  /** The same for calls that may return their answer at once. */
  retry<Answer>(call: () => Answer | Promise<Answer>): Answer | Promise<Answer>;
  retry<Answer>(call: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    const answer = call();
    return answer instanceof Promise ? this.#repeat(answer, call) : answer;
  }

  async #repeat<Answer>(first: Promise<Answer>, call: () => Answer | Promise<Answer>): Promise<Answer> {
    const startedAt = performance.now();
    let losses = this.#losses;
    for (let answer: Answer | Promise<Answer> = first; ; answer = call()) {
      try {
        return await answer;
      } catch (error) {
        const isOutage = error instanceof RouterError && error.code === 'store_unavailable';
        // Redis may fail several times. The wait of a request is bounded over all outages together.
        const isLate = performance.now() - startedAt > this.#waitMs;
        if (!isOutage || isLate || !(await this.#waitForEnd(losses))) throw error;
        losses = this.#losses;
      }
    }
  }

  /**
   * Waits for the end of an outage, if there is one.
   * @param losses the value of `#losses` when the store was called
   * @returns false if the connection was not lost since then, or the outage has lasted too long
   */
  async #waitForEnd(losses: number): Promise<boolean> {
    const { redis, whenReady } = this.#connection;
    for (let turns = 0; turns < maxTurns && redis.status === 'ready'; turns += 1) await turn();
    if (redis.status === 'ready') return this.#losses !== losses;
    this.#outageSince ??= performance.now();
    const leftMs = Math.ceil(this.#outageSince + this.#waitMs - performance.now());
    if (leftMs <= 0) return false;
    // All waiting requests wait for the same promise.
    this.#outageEnd ??= whenReady(AbortSignal.timeout(leftMs))
      .then(
        () => true,
        () => false,
      )
      .finally(() => (this.#outageEnd = undefined));
    return this.#outageEnd;
  }
}
