import { hasToolName, type Announcement } from '../../contract/announcement.ts';
import { computePoolDigest } from '../../contract/pool-token.ts';
import { findCommonVersion, type ContractRange } from '../../contract/contract-range.ts';
import { openCredentialName } from '../../contract/worker-address.ts';
import type { Tier } from '#shared/core/tier.ts';
import { KnownNames } from './known-names.ts';

import type { LivePool, LiveWorker } from './live-worker.ts';

/** Milliseconds for which a lost pool is kept, because it may come back, for example after a restart. */
const keepLostMs = 60_000;

/** Maximum announcement bytes of the lost pools of one credential. Beyond it, the credential's oldest lost pools are dropped. */
const maxLostBytes = 2 * 1024 * 1024;
/** Minimum bytes that each announcement counts. */
const minLostBytes = 4 * 1024;

interface LostPool {
  pool: LivePool;
  /** When the pool lost its last worker. */
  lostAt: number;
  /** The name of the credential of the pool's last worker. */
  credentialName: string;
  /** Bytes of the last worker's announcement. */
  bytes: number;
}

/** The pools that live workers form, and the lost pools with the names that they served. Times are milliseconds of `performance.now()`. */
export class LivePools {
  readonly #contract: ContractRange;
  /** The pools by the key that `computeKey` returns. */
  readonly #pools = new Map<string, LivePool>();
  /** The lost pools by key, oldest first. */
  readonly #lostPools = new Map<string, LostPool>();
  /** The names that lost pools have served. A request for such a name waits instead of failing with status 404. */
  readonly #lostModels = new KnownNames();
  readonly #lostTools = new KnownNames();

  /** @param contract the versions of the contract that this dispatcher speaks */
  constructor(contract: ContractRange) {
    this.#contract = contract;
  }

  values(): Iterable<LivePool> {
    return this.#pools.values();
  }

  /** Returns the pools that have lost their last worker within the last minute, and may come back. Drops pools that were lost earlier. */
  findLost(now: number): LivePool[] {
    for (const [key, { lostAt }] of this.#lostPools) {
      if (now - lostAt <= keepLostMs) break;
      this.#lostPools.delete(key);
    }
    return Array.from(this.#lostPools.values(), ({ pool }) => pool);
  }

  /** Whether any worker serves this model, or has served it since this dispatcher started. */
  isKnownModel(id: string): boolean {
    for (const pool of this.#pools.values()) if (servesModel(pool, id)) return true;
    return this.#lostModels.has(id) || this.#wasJustLost((pool) => servesModel(pool, id));
  }

  /** Returns the tiers whose workers serve this model, or have served it since this dispatcher started. */
  findTiers(id: string): ReadonlySet<Tier> {
    const tiers = new Set(this.#lostModels.getTiers(id));
    for (const pool of this.#pools.values()) if (servesModel(pool, id)) tiers.add(pool.tier);
    for (const { pool } of this.#lostPools.values()) if (servesModel(pool, id)) tiers.add(pool.tier);
    return tiers;
  }

  /** Whether any worker has a tool with this name, or has had such a tool since this dispatcher started. */
  isKnownTool(name: string): boolean {
    const hasTool = ({ tools }: LivePool): boolean => tools.some((tool) => hasToolName(tool, name));
    for (const pool of this.#pools.values()) if (hasTool(pool)) return true;
    return this.#lostTools.has(name) || this.#wasJustLost(hasTool);
  }

  /**
   * Computes the key of the pool to which a worker with this announcement belongs. The announced pool token alone proves nothing: a worker
   * that announces the token of other workers, but serves something else, gets a pool of its own.
   */
  computeKey({ tier, pool, formats, models, tools, v: newest, oldest = newest }: Announcement): string {
    return computePoolDigest({ tier, kind: pool, formats, models, tools, contract: { oldest, newest } });
  }

  /** Returns the pool with a key. If there is none, creates it from the announcement. */
  getOrCreatePool(
    key: string,
    { tier, pool, formats, models, tools, v: newest, oldest = newest }: Announcement,
  ): LivePool {
    let livePool = this.#pools.get(key);
    if (!livePool) {
      const contract = findCommonVersion(this.#contract, { oldest, newest });
      livePool = { key, tier, pool, contract, formats, models, tools, workers: new Set(), waiting: 0 };
      this.#pools.set(key, livePool);
      this.#lostPools.delete(key);
    }
    return livePool;
  }

  /** Removes a worker from its pool. A pool without workers is lost. */
  removeWorker(worker: LiveWorker): void {
    const { pool } = worker;
    pool.workers.delete(worker);
    if (pool.workers.size > 0) return;
    const { key } = pool;
    this.#pools.delete(key);
    const now = performance.now();
    // Drops pools that were lost too long ago, because `findLost` may have no other caller.
    this.findLost(now);
    const { credentialName } = worker.address;
    this.#lostPools.set(key, { pool, lostAt: now, credentialName, bytes: worker.announcementBytes.length });
    if (credentialName !== openCredentialName) this.#dropOldestLost(credentialName);
    for (const { id } of pool.models) this.#lostModels.add(id, pool.tier);
    for (const { name, givenName = name } of pool.tools) {
      this.#lostTools.add(name, pool.tier);
      this.#lostTools.add(givenName, pool.tier);
    }
  }

  /**
   * Whether a matching pool was just lost. The names of its models and tools may be missing in the lost names: all credentials share these,
   * and the names of other lost pools may have replaced them.
   */
  #wasJustLost(matches: (pool: LivePool) => boolean): boolean {
    for (const { pool } of this.#lostPools.values()) if (matches(pool)) return true;
    return false;
  }

  /** Drops the oldest lost pools of a credential that has too many, so that workers that come, change and go cannot fill the memory. */
  #dropOldestLost(credentialName: string): void {
    let leftBytes = maxLostBytes;
    for (const [key, lost] of [...this.#lostPools].toReversed()) {
      if (lost.credentialName !== credentialName) continue;
      leftBytes -= Math.max(minLostBytes, lost.bytes);
      if (leftBytes < 0) this.#lostPools.delete(key);
    }
  }
}

function servesModel({ models }: LivePool, id: string): boolean {
  return models.some((model) => model.id === id);
}
