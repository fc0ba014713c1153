import { setImmediate as turn } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { RedisConnection } from './connect-redis.ts';

/** Turns of the event loop after which a connection counts as lost whose commands fail. */
const mostTurns = 3;

/**
 * Has requests wait while Redis is restarted, instead of failing them: what fails because Redis is away is asked again when it is
 * back, up to so many milliseconds into the outage. In a longer outage everything fails at once, so that nothing piles up.
 */
export class ShortOutages {
  readonly #connection: Pick<RedisConnection, 'redis' | 'whenReady'>;
  readonly #waitMs: number;
  /** When the connection was lost, or this began to wait for the first one, ms of `performance.now()`; undefined while it stands. */
  #since: number | undefined;
  #end: Promise<boolean> | undefined;
  /** How often the connection was lost. */
  #losses = 0;

  /** @param waitMs milliseconds into an outage up to which requests wait */
  constructor(connection: Pick<RedisConnection, 'redis' | 'whenReady'>, waitMs: number) {
    this.#connection = connection;
    this.#waitMs = waitMs;
    const { redis } = connection;
    if (redis.status !== 'ready') this.#since = performance.now();
    redis.on('ready', () => (this.#since = undefined));
    redis.on('close', () => {
      this.#losses += 1;
      this.#since ??= performance.now();
    });
  }

  /**
   * Asks the store, and again after a short outage.
   * @param ask must be safe to repeat after a failure, whether or not Redis has done what was asked
   * @throws, or rejects with, what `ask` does
   */
  through<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
  /** The same for what may be answered at once. */
  through<Answer>(ask: () => Answer | Promise<Answer>): Answer | Promise<Answer>;
  through<Answer>(ask: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    const answer = ask();
    return answer instanceof Promise ? this.#repeated(answer, ask) : answer;
  }

  async #repeated<Answer>(first: Promise<Answer>, ask: () => Answer | Promise<Answer>): Promise<Answer> {
    const askedAt = performance.now();
    let losses = this.#losses;
    for (let answer: Answer | Promise<Answer> = first; ; answer = ask()) {
      try {
        return await answer;
      } catch (error) {
        const isAway = error instanceof RouterError && error.code === 'store_unavailable';
        // Redis may come and go: a request waits no longer for several outages than for one.
        const isLate = performance.now() - askedAt > this.#waitMs;
        if (!isAway || isLate || !(await this.#isOver(losses))) throw error;
        losses = this.#losses;
      }
    }
  }

  /**
   * Waits for the end of an outage that goes on.
   * @param losses how often the connection had been lost when the store was asked
   * @returns false if there was none since, or it has gone on for too long
   */
  async #isOver(losses: number): Promise<boolean> {
    const { redis, whenReady } = this.#connection;
    for (let turns = 0; turns < mostTurns && redis.status === 'ready'; turns += 1) await turn();
    if (redis.status === 'ready') return this.#losses !== losses;
    this.#since ??= performance.now();
    const leftMs = Math.ceil(this.#since + this.#waitMs - performance.now());
    if (leftMs <= 0) return false;
    // Any number of requests wait for the same moment.
    this.#end ??= whenReady(AbortSignal.timeout(leftMs))
      .then(
        () => true,
        () => false,
      )
      .finally(() => (this.#end = undefined));
    return this.#end;
  }
}
