import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const toUrl = (script: string): URL => new URL(`lua/${script}.lua`, import.meta.url);

/** Maximum visits of one call that removes what an owner has, see `remove-owner.lua`. A call with the maximum takes about 10 ms. */
const maxVisits = 10_000;

/** Milliseconds for which nothing is stored for a removed owner. No answer and no upload that has begun takes longer. */
const refusedForMs = 24 * 3_600_000;

/** The outcome of storing a thing: `full` if there is no room for it, `gone` if its owner no longer exists. */
export type KeepOutcome = 'kept' | 'full' | 'gone';

/** Bounds of a kind. The oldest things go first: of the owner, then of the owner with the most bytes. */
export interface KeepBounds {
  keepMs: number;
  ownerBytes: number;
  totalBytes: number;
  ownerCount?: number;
}

/**
 * The store of one kind of thing that belongs to owners: its expiry, its bytes, the eviction of the oldest, and its removal, see
 * `owned.lua`. Every method throws RouterError `store_unavailable` while Redis is unavailable.
 */
export class OwnedStore {
  /** The scripts that are prepended to each script that stores or removes things of the kind. */
  readonly scripts: readonly URL[];
  readonly #keep: RedisScript;
  readonly #remove: RedisScript;
  readonly #removeOwner: RedisScript;
  readonly #sweep: RedisScript;

  /** @param kind the script with the names and the exceptions of the kind */
  constructor(kind: URL) {
    this.scripts = [scriptStart, toUrl('owned'), kind];
    this.#keep = new RedisScript(...this.scripts, toUrl('keep'));
    this.#remove = new RedisScript(...this.scripts, toUrl('remove'));
    this.#removeOwner = new RedisScript(...this.scripts, toUrl('remove-owner'));
    this.#sweep = new RedisScript(...this.scripts, toUrl('sweep'));
  }

  /**
   * Stores a thing, and lets older ones go for it.
   * @param entry what the scripts of the kind read of it: at least the bytes that count for it
   * @param content its fields, sealed
   */
  async keep(
    redis: Redis,
    prefix: string,
    { owner, id, entry }: { owner: string; id: string; entry: { bytes: number } },
    content: Readonly<Record<string, string>>,
    bounds: KeepBounds,
  ): Promise<KeepOutcome> {
    const args = { prefix, owner, id, fields: Object.keys(content), ...bounds };
    const outcome = await this.#keep.run(redis, { args, texts: [JSON.stringify(entry), ...Object.values(content)] });
    if (outcome === -1) return 'gone';
    return outcome === 1 ? 'kept' : 'full';
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
