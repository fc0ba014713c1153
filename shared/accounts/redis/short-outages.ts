import { setImmediate as turn } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { RedisConnection } from './connect-redis.ts';

/** After a command has failed, the loss of its connection may show only after some turns of the event loop. Maximum of these turns. */
const maxTurns = 3;

/**
 * Lets requests wait while Redis is restarted, instead of failing them. A call that fails because Redis is unavailable is repeated when
 * Redis is available again, if the outage lasts at most `waitMs`. In a longer outage, every call fails at once, so that nothing piles up.
 */
export class ShortOutages {
  readonly #connection: Pick<RedisConnection, 'redis' | 'whenReady'>;
  readonly #waitMs: number;
  /**
   * When the connection was lost, or the wait for the first connection began, in ms of `performance.now()`. Undefined while there is a
   * connection.
   */
  #outageSince: number | undefined;
  #outageEnd: Promise<boolean> | undefined;
  #losses = 0;

  /** @param waitMs milliseconds after the beginning of an outage until requests no longer wait */
  constructor(connection: Pick<RedisConnection, 'redis' | 'whenReady'>, waitMs: number) {
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
   * Calls the store. If the call fails, it is repeated after a short outage.
   * @param ask must be safe to repeat after a failure, whether or not Redis has executed the command
   * @throws, or rejects with, the error of `ask`
   */
  retry<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
  /** The same for calls that may return their answer at once. */
  retry<Answer>(ask: () => Answer | Promise<Answer>): Answer | Promise<Answer>;
  retry<Answer>(ask: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    const answer = ask();
    return answer instanceof Promise ? this.#repeat(answer, ask) : answer;
  }

  async #repeat<Answer>(first: Promise<Answer>, ask: () => Answer | Promise<Answer>): Promise<Answer> {
    const askedAt = performance.now();
    let losses = this.#losses;
    for (let answer: Answer | Promise<Answer> = first; ; answer = ask()) {
      try {
        return await answer;
      } catch (error) {
        const isAway = error instanceof RouterError && error.code === 'store_unavailable';
        // Redis may fail several times. A request waits no longer for several outages than for one.
        const isLate = performance.now() - askedAt > this.#waitMs;
        if (!isAway || isLate || !(await this.#waitForEnd(losses))) throw error;
        losses = this.#losses;
      }
    }
  }

  /**
   * Waits for the end of an outage, if there is one.
   * @param losses how often the connection had been lost when the store was called
   * @returns false if the connection was not lost since, or the outage has lasted too long
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
