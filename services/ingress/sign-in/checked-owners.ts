import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { KeySource } from '#shared/accounts/keys/key-verifier.ts';
import type { UserStore } from '#shared/accounts/people/user-store.ts';
import type { Confirm } from '#shared/accounts/sign-in/confirmation.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds from the beginning of a check of a person until the next check of the person may begin. */
const checkIntervalMs = 60_000;

/** Largest number of concurrent checks, because a check at a provider that hangs lasts until its timeout. */
const maxAtOnce = 16;

/** Largest number of people whose recent checks are remembered. */
const maxRemembered = 10_000;

/** Milliseconds for which a process that is about to exit waits for answers, because a lost answer may contain a new refresh token. */
const closeMs = 10_000;

/**
 * Checks the owners of keys with their identity providers. The record of a key in use is read every half minute. Each read triggers a check
 * whether the provider still admits the owner, but at most once a minute per person. No request waits for the check. If the provider
 * refuses the person, the keys of the person become invalid on every ingress.
 */
export class CheckedOwners implements KeySource {
  readonly #keys: KeySource;
  readonly #users: Pick<UserStore, 'find'>;
  readonly #log: Logger;
  readonly #recent = new LRUCache<string, true>({ max: maxRemembered, ttl: checkIntervalMs });
  readonly #checks = new Set<Promise<void>>();
  #confirm: Confirm = async () => 'confirmed';

  constructor(keys: KeySource, users: Pick<UserStore, 'find'>, log: Logger) {
    this.#keys = keys;
    this.#users = users;
    this.#log = log;
  }

  setConfirm(confirm: Confirm): void {
    this.#confirm = confirm;
  }

  async find(id: string): Promise<FoundKey | undefined> {
    const found = await this.#keys.find(id);
    if (found?.ownerId !== undefined && found.owner?.hasNoPassword === true && !found.owner.isBlocked)
      this.#startCheck(found.ownerId);
    return found;
  }

  replaceHash(id: string, from: string, to: string): Promise<boolean> {
    return this.#keys.replaceHash(id, from, to);
  }

  /** Waits until running checks have ended, but at most ten seconds. */
  async close(): Promise<void> {
    const closed = new AbortController();
    const timeout = sleep(closeMs, undefined, { signal: closed.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#checks), timeout]);
    closed.abort();
  }

  #startCheck(id: string): void {
    if (this.#recent.has(id) || this.#checks.size >= maxAtOnce) return;
    this.#recent.set(id, true);
    const check = this.#check(id).finally(() => this.#checks.delete(check));
    this.#checks.add(check);
  }

  async #check(id: string): Promise<void> {
    try {
      const user = await this.#users.find(id);
      if (user) await this.#confirm(user);
    } catch (error) {
      // The first read of the key after a minute triggers another check.
      this.#log.warn(
        { err: error, user: id },
        'it is unknown whether the identity provider still admits the owner of a key',
      );
    }
  }
}
