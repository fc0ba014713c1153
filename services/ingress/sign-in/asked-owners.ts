import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { KeySource } from '#shared/accounts/keys/key-verifier.ts';
import type { UserStore } from '#shared/accounts/people/user-store.ts';
import type { Confirm } from '#shared/accounts/sign-in/confirmation.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds in which one person is asked about once. */
const againMs = 60_000;

/** People about whom providers are asked at the same time: a provider that hangs takes its time for each of them. */
const mostAtOnce = 16;

/** People who are remembered to have been asked about. */
const maxKnown = 10_000;

/** Milliseconds for which the end of the process waits for answers: one that is lost may have a new refresh token in it. */
const closeMs = 10_000;

/**
 * Keys of people from providers: when the record of one that is used is read, which is every half a minute, it is found out whether the
 * provider still lets its person in, once a minute at most. No request waits for that: a person who is refused loses their keys by the change
 * that is announced then.
 */
export class AskedOwners implements KeySource {
  readonly #keys: KeySource;
  readonly #users: Pick<UserStore, 'find'>;
  readonly #log: Logger;
  readonly #asked = new LRUCache<string, true>({ max: maxKnown, ttl: againMs });
  readonly #asking = new Set<Promise<void>>();
  #confirm: Confirm = async () => 'confirmed';

  constructor(keys: KeySource, users: Pick<UserStore, 'find'>, log: Logger) {
    this.#keys = keys;
    this.#users = users;
    this.#log = log;
  }

  confirmWith(confirm: Confirm): void {
    this.#confirm = confirm;
  }

  async find(id: string): Promise<FoundKey | undefined> {
    const found = await this.#keys.find(id);
    if (found?.ownerId !== undefined && found.owner?.hasNoPassword === true && !found.owner.blocked)
      this.#askAbout(found.ownerId);
    return found;
  }

  replaceHash(id: string, from: string, to: string): Promise<boolean> {
    return this.#keys.replaceHash(id, from, to);
  }

  /** Waits for what is being asked, for ten seconds at most. */
  async close(): Promise<void> {
    const isOver = new AbortController();
    const bound = sleep(closeMs, undefined, { signal: isOver.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#asking), bound]);
    isOver.abort();
  }

  #askAbout(id: string): void {
    if (this.#asked.has(id) || this.#asking.size >= mostAtOnce) return;
    this.#asked.set(id, true);
    const asking = this.#ask(id).finally(() => this.#asking.delete(asking));
    this.#asking.add(asking);
  }

  async #ask(id: string): Promise<void> {
    try {
      const user = await this.#users.find(id);
      if (user) await this.#confirm(user);
    } catch (error) {
      // It is asked again when the key is read in a minute.
      this.#log.warn({ err: error, user: id }, 'it cannot be found out whether the owner of a key is still let in');
    }
  }
}
