import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { KeySource } from '#shared/accounts/keys/key-verifier.ts';
import type { UserStore } from '#shared/accounts/people/user-store.ts';
import type { Confirm } from '#shared/accounts/sign-in/confirmation.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds for which a person is not checked again. */
const checkIntervalMs = 60_000;

/** Largest number of concurrent checks: a provider that hangs takes its full timeout for each of them. */
const maxAtOnce = 16;

/** People whose last check is remembered. */
const maxKnown = 10_000;

/** Milliseconds for which the exiting process waits for answers: a lost answer may contain a new refresh token. */
const closeMs = 10_000;

/**
 * Checks the owners of keys with their identity providers. Reading the record of a key in use, which happens every half minute, triggers
 * the check that the provider still admits the owner, at most once a minute per person. No request waits for the check: a refused person
 * loses their keys through the announcement of the change.
 */
export class CheckedOwners implements KeySource {
  readonly #keys: KeySource;
  readonly #users: Pick<UserStore, 'find'>;
  readonly #log: Logger;
  readonly #asked = new LRUCache<string, true>({ max: maxKnown, ttl: checkIntervalMs });
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

  /** Waits for running checks, for ten seconds at most. */
  async close(): Promise<void> {
    const isOver = new AbortController();
    const bound = sleep(closeMs, undefined, { signal: isOver.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#asking), bound]);
    isOver.abort();
  }

  #askAbout(id: string): void {
    if (this.#asked.has(id) || this.#asking.size >= maxAtOnce) return;
    this.#asked.set(id, true);
    const asking = this.#ask(id).finally(() => this.#asking.delete(asking));
    this.#asking.add(asking);
  }

  async #ask(id: string): Promise<void> {
    try {
      const user = await this.#users.find(id);
      if (user) await this.#confirm(user);
    } catch (error) {
      // The next reading of the key after a minute checks again.
      this.#log.warn({ err: error, user: id }, 'it cannot be found out whether the owner of a key is still let in');
    }
  }
}
