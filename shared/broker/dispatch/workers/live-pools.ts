import { digestOfPool, isCalled, type Announcement } from '../../contract/announcement.ts';
import { agreedVersion, type ContractRange } from '../../contract/contract-range.ts';
import type { Tier } from '#shared/core/tier.ts';
import { KnownNames } from './known-names.ts';
import type { LivePool, LiveWorker } from './live-pool.ts';

/** Milliseconds for which what a lost pool served may come back, as after a restart. */
const lostForMs = 60_000;

/** The pools that live workers form, and what those that are gone have served. Times are milliseconds of `performance.now()`. */
export class LivePools {
  readonly #contract: ContractRange;
  /** By what they serve, see `poolFor`. */
  readonly #pools = new Map<string, LivePool>();
  /** Pools that were lost, and when, the oldest first. */
  readonly #lost = new Map<string, { pool: LivePool; at: number }>();
  /** What lost pools have served: a request for one of these names waits instead of being answered with 404. */
  readonly #lostModels = new KnownNames();
  readonly #lostTools = new KnownNames();

  /** @param contract the versions of the contract that this ingress speaks */
  constructor(contract: ContractRange) {
    this.#contract = contract;
  }

  all(): Iterable<LivePool> {
    return this.#pools.values();
  }

  /** Pools whose last worker has gone within the last minute: it may come back. */
  lost(now: number): LivePool[] {
    for (const [key, { at }] of this.#lost) {
      if (now - at <= lostForMs) break;
      this.#lost.delete(key);
    }
    return Array.from(this.#lost.values(), ({ pool }) => pool);
  }

  /** Whether any worker serves this model, or did since this ingress started. */
  isKnownModel(id: string): boolean {
    if (this.#lostModels.has(id)) return true;
    for (const pool of this.#pools.values()) if (pool.models.some((model) => model.id === id)) return true;
    return false;
  }

  /** The tiers whose workers serve this model, or did since this ingress started. */
  tiersOf(id: string): ReadonlySet<Tier> {
    const tiers = new Set(this.#lostModels.tiersOf(id));
    for (const pool of this.#pools.values()) if (pool.models.some((model) => model.id === id)) tiers.add(pool.tier);
    return tiers;
  }

  /** Whether any worker has a tool that is called so, or had since this ingress started. */
  isKnownTool(name: string): boolean {
    if (this.#lostTools.has(name)) return true;
    for (const pool of this.#pools.values()) if (pool.tools.some((tool) => isCalled(tool, name))) return true;
    return false;
  }

  /**
   * The pool that a worker with this announcement belongs to, which is made if there is none. What the worker serves decides besides the
   * token, which it only claims: one that claims the token of others and serves something else has a pool of its own.
   */
  poolFor({ tier, pool, formats, models, tools, v: newest, oldest = newest }: Announcement): LivePool {
    const key = digestOfPool({ tier, kind: pool, formats, models, tools, contract: { oldest, newest } });
    let live = this.#pools.get(key);
    if (!live) {
      const contract = agreedVersion(this.#contract, { oldest, newest });
      live = { key, tier, pool, contract, formats, models, tools, workers: new Set(), waiting: 0 };
      this.#pools.set(key, live);
      this.#lost.delete(key);
    }
    return live;
  }

  /** Takes a worker out of its pool, which is lost without any. */
  leave(worker: LiveWorker): void {
    const { pool } = worker;
    pool.workers.delete(worker);
    if (pool.workers.size > 0) return;
    const { key } = pool;
    this.#pools.delete(key);
    const now = performance.now();
    // Those that nobody asks for go here, too.
    this.lost(now);
    this.#lost.set(key, { pool, at: now });
    for (const { id } of pool.models) this.#lostModels.add(id, pool.tier);
    for (const { name, givenName = name } of pool.tools) {
      this.#lostTools.add(name, pool.tier);
      this.#lostTools.add(givenName, pool.tier);
    }
  }
}
