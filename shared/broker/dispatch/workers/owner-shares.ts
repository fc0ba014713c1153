import { computeMemoryShare } from '#shared/core/memory-budget.ts';
import { openOwner } from '../../contract/worker-address.ts';

const maxWorkers = 1_000;

/** Maximum pools of a credential's workers. Each pool has lanes, and every request checks it. */
const maxPools = 100;

/** Maximum models of all pools of a credential together. `auto` and lists of models go through all of them. */
const maxModels = 5_000;

/** A credential's announcements may use the memory limit of this process divided by this number. */
const memoryParts = 8;
/** Maximum bytes of a credential's announcements if the process has no memory limit, or a large one. */
const maxBytes = 256 * 1024 * 1024;

/** The memory of a parsed announcement as a multiple of its bytes. The parsed form is kept once for a pool, the bytes for each worker. */
const parsedFactor = 8;

export interface WorkerShare {
  /** The key of its pool. */
  pool: string;
  models: number;
  /** Bytes of its announcement. */
  bytes: number;
}

interface OwnerShare {
  workers: number;
  models: number;
  bytes: number;
  /** The owner's pools by key; `bytes` are those of the parsed announcement. */
  pools: Map<string, { workers: number; models: number; bytes: number }>;
}

/**
 * Counts the workers, pools, models and memory of each owner in this process, so that a stolen credential cannot crowd out all others.
 * Workers without credentials share one owner, which only the limit of the whole table bounds.
 */
export class OwnerUsage {
  readonly #maxBytes: number;
  readonly #shares = new Map<string, OwnerShare>();

  /** @param memoryBytes the memory limit of this process; 0 if it has none */
  constructor(memoryBytes: number) {
    this.#maxBytes = Math.min(maxBytes, computeMemoryShare(memoryParts, memoryBytes));
  }

  /**
   * Counts a worker that comes, changes or goes.
   * @param before its share until now; undefined for a new worker
   * @param after its share from now on; undefined for a worker that was lost
   * @returns false if the owner has no room for it; nothing has changed then
   */
  change(owner: string, before: WorkerShare | undefined, after: WorkerShare | undefined): boolean {
    if (owner === openOwner) return true;
    const share = this.#shares.get(owner) ?? { workers: 0, models: 0, bytes: 0, pools: new Map() };
    if (before) give(share, before);
    if (after) take(share, after);
    if (after && !this.#fits(share)) {
      give(share, after);
      if (before) take(share, before);
      return false;
    }
    if (share.workers > 0) this.#shares.set(owner, share);
    else this.#shares.delete(owner);
    return true;
  }

  #fits({ workers, models, bytes, pools }: OwnerShare): boolean {
    return workers <= maxWorkers && pools.size <= maxPools && models <= maxModels && bytes <= this.#maxBytes;
  }
}

function take(share: OwnerShare, { pool: key, models, bytes }: WorkerShare): void {
  const pool = share.pools.get(key) ?? { workers: 0, models, bytes: parsedFactor * bytes };
  if (pool.workers === 0) {
    share.pools.set(key, pool);
    share.models += pool.models;
    share.bytes += pool.bytes;
  }
  pool.workers += 1;
  share.workers += 1;
  share.bytes += bytes;
}

function give(share: OwnerShare, { pool: key, bytes }: WorkerShare): void {
  const pool = share.pools.get(key);
  if (!pool) return;
  pool.workers -= 1;
  share.workers -= 1;
  share.bytes -= bytes;
  if (pool.workers > 0) return;
  share.pools.delete(key);
  share.models -= pool.models;
  share.bytes -= pool.bytes;
}
