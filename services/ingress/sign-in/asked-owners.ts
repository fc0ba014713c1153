import type { UserStore } from '#shared/accounts/people/user-store.ts';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { KeySource } from '#shared/accounts/keys/key-verifier.ts';
import type { Confirm } from '#shared/accounts/sign-in/confirmation.ts';
import type { Logger } from '#shared/core/log.ts';

/**
 * Keys of people from providers: each time the record of one that is used is read, which is every half a minute, it is found out whether the
 * provider still lets its person in. No request waits for that: a person who is refused loses their keys by the change that is announced then.
 */
export class AskedOwners implements KeySource {
  readonly #keys: KeySource;
  readonly #users: Pick<UserStore, 'find'>;
  readonly #log: Logger;
  /** Ids of the people about whom it is being found out. */
  readonly #asking = new Set<string>();
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
      void this.#ask(found.ownerId);
    return found;
  }

  replaceHash(id: string, from: string, to: string): Promise<boolean> {
    return this.#keys.replaceHash(id, from, to);
  }

  async #ask(id: string): Promise<void> {
    if (this.#asking.has(id)) return;
    this.#asking.add(id);
    try {
      const user = await this.#users.find(id);
      if (user) await this.#confirm(user);
    } catch (error) {
      // It is asked again when the key is read the next time.
      this.#log.warn({ err: error, user: id }, 'it cannot be found out whether the owner of a key is still let in');
    } finally {
      this.#asking.delete(id);
    }
  }
}
