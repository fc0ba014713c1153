import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const toUrl = (script: string): URL => new URL(`lua/${script}.lua`, import.meta.url);

/** Maximum visits of one call that removes what an owner has, see `remove-owner.lua`. A call with the maximum takes about 10 ms. */
const maxVisits = 10_000;

/** Milliseconds for which nothing is stored for a removed owner. No answer and no upload that has begun takes longer. */
const refusedForMs = 24 * 3_600_000;

/**
 * The store of one kind of thing that belongs to owners: its expiry, its bytes, the eviction of the oldest, and its removal, see
 * `owned.lua`. Every method throws RouterError `store_unavailable` while Redis is unavailable.
 */
export class OwnedStore {
  /** The scripts that are prepended to each script that stores or removes things of the kind. */
  readonly scripts: readonly URL[];
  readonly #remove: RedisScript;
  readonly #removeOwner: RedisScript;
  readonly #sweep: RedisScript;

  /** @param kind the script with the names and the exceptions of the kind */
  constructor(kind: URL) {
    this.scripts = [scriptStart, toUrl('owned'), kind];
    this.#remove = new RedisScript(...this.scripts, toUrl('remove'));
    this.#removeOwner = new RedisScript(...this.scripts, toUrl('remove-owner'));
    this.#sweep = new RedisScript(...this.scripts, toUrl('sweep'));
  }

  /**
   * Removes a thing that has content.
   * @param prefix start of all names in Redis
   * @returns whether the owner had it
   */
  async remove(redis: Redis, prefix: string, owner: string, id: string): Promise<boolean> {
    return (await this.#remove.run(redis, { args: { prefix, owner, id } })) === 1;
  }

  /** Removes everything of an owner that no longer exists. What is still being made for the owner is not stored. */
  async removeOwner(redis: Redis, prefix: string, owner: string): Promise<void> {
    let left = 1;
    while (left > 0)
      left = Number(await this.#removeOwner.run(redis, { args: { prefix, owner, maxVisits, refusedForMs } }));
  }

  /**
   * Removes some of the things that have expired.
   * @returns how many were removed; 0 if none is left
   */
  async sweep(redis: Redis, prefix: string): Promise<number> {
    return Number(await this.#sweep.run(redis, { args: { prefix } }));
  }
}
