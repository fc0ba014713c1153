import type { Redis } from 'ioredis';

/** What has changed: there are further events, or the response is over. */
export type ResponseChange = 'events' | 'over';

/** Calls back when responses in the background change, wherever they are made. A change may be missed while Redis is away. */
export class ResponseChanges {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #listeners = new Map<string, Set<(change: ResponseChange) => void>>();

  /**
   * @param redis a connection of its own
   * @param prefix what all names in Redis begin with
   */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = `${prefix}background-changes:`;
    redis.on('message', (channel: string, change: string) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener(change === 'over' ? 'over' : 'events');
    });
    // The connection remembers only what it has asked for.
    redis.on('ready', () => {
      const channels = [...this.#listeners.keys()];
      if (channels.length > 0) redis.subscribe(...channels).catch(() => undefined);
    });
  }

  /** @returns stops the calls */
  watch(id: string, listener: (change: ResponseChange) => void): () => void {
    const channel = this.#prefix + id;
    const listeners = this.#listeners.get(channel) ?? new Set();
    if (listeners.size === 0) {
      this.#listeners.set(channel, listeners);
      // Without a connection, it is asked for when there is one.
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
