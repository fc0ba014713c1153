import type { Redis } from 'ioredis';

/** `events`: there are further events. `over`: the answer has ended or was removed. */
export type AnswerChange = 'events' | 'over';

/** Calls listeners when any process changes an answer of a journal. While Redis is unavailable, changes may be missed. */
export class AnswerChanges {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #listeners = new Map<string, Set<(change: AnswerChange) => void>>();

  /**
   * @param redis a connection that serves nothing else
   * @param prefix start of all names in Redis
   */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = `${prefix}background-changes:`;
    redis.on('message', (channel: string, change: string) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener(change === 'over' ? 'over' : 'events');
    });
    // After a reconnect, the Redis client repeats only the subscriptions that it has sent before.
    redis.on('ready', () => {
      const channels = [...this.#listeners.keys()];
      if (channels.length > 0) redis.subscribe(...channels).catch(() => undefined);
    });
  }

  /**
   * Calls `listener` on each change of an answer.
   * @param name the id of a background response, or `<owner>:<id>` of an idempotent answer
   * @returns a function that stops the calls
   */
  watch(name: string, listener: (change: AnswerChange) => void): () => void {
    const channel = this.#prefix + name;
    const listeners = this.#listeners.get(channel) ?? new Set();
    if (listeners.size === 0) {
      this.#listeners.set(channel, listeners);
      // This fails without a connection; the `ready` handler subscribes then.
      this.#redis.subscribe(channel).catch(() => undefined);
    }
    listeners.add(listener);
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#listeners.delete(channel);
      this.#redis.unsubscribe(channel).catch(() => undefined);
    };
  }
}
