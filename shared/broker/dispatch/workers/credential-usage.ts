import { computeMemoryShare } from '#shared/core/memory-budget.ts';
import { openCredentialName } from '../../contract/worker-address.ts';

/** Maximum workers of a credential. */
const maxWorkers = 1_000;

/** Maximum pools of a credential's workers. Each pool has lanes, and every request looks at every pool. */
const maxPools = 100;

/** Maximum models of all pools of a credential together. `auto` and lists of models go through all models. */
const maxModels = 5_000;

/**
 * Maximum tools of all pools of a credential together, including the entries that stand for MCP servers. Lists of tools go through all
 * tools.
 */
const maxTools = 5_000;

/** Maximum MCP servers with content of all pools of a credential together. Lists of content are requested of every server. */
const maxServers = 250;

/** Maximum slots of a credential's workers together. Pools with more free slots get more requests, and autoscalers count on all slots. */
const maxSlots = 100_000;

/** A credential's announcements may use the memory limit of this process divided by this number. */
const memoryParts = 8;
/** Maximum bytes of a credential's announcements if the process has no memory limit, or a large one. */
const maxBytes = 256 * 1024 * 1024;

/**
 * The memory of a parsed announcement as a multiple of its bytes. The parsed form is kept once for each pool, the bytes for each worker.
 */
const parsedFactor = 8;

/** The amounts that one worker adds to the usage of its credential. */
export interface WorkerShare {
  /** The key of the worker's pool. */
  pool: string;
  /** Models of the pool. */
  models: number;
  /** Tools of the pool. */
  tools: number;
  /** MCP servers with content of the pool. */
  servers: number;
  /** Slots of the worker. */
  slots: number;
  /** Bytes of the worker's announcement. */
  bytes: number;
}

interface Usage {
  workers: number;
  models: number;
  tools: number;
  servers: number;
  slots: number;
  bytes: number;
  /** The credential's pools by key. `bytes` is the memory of the parsed announcement. */
  pools: Map<string, { workers: number; models: number; tools: number; servers: number; bytes: number }>;
}

/**
 * Counts the workers, pools, models, tools, MCP servers, slots and memory of each credential in this process, so that a stolen credential
 * cannot crowd out all others. Workers without credentials are not counted; only the limit of all workers applies to them.
 */
export class CredentialUsage {
  readonly #maxBytes: number;
  readonly #usages = new Map<string, Usage>();

  /** @param memoryBytes the memory limit of this process; 0 if it has none */
  constructor(memoryBytes: number) {
    this.#maxBytes = Math.min(maxBytes, computeMemoryShare(memoryParts, memoryBytes));
  }

  /**
   * Counts a worker that joins, changes or leaves.
   * @param before the worker's share until now; undefined for a new worker
   * @param after the worker's share from now on; undefined for a worker that was lost
   * @returns false if the limits of the credential do not allow the change; the counts are then unchanged
   */
  change(credentialName: string, before: WorkerShare | undefined, after: WorkerShare | undefined): boolean {
    if (credentialName === openCredentialName) return true;
    const usage = this.#usages.get(credentialName) ?? createUsage();
    if (before) removeShare(usage, before);
    if (after) addShare(usage, after);
    if (after && !this.#isWithinLimits(usage)) {
      removeShare(usage, after);
      if (before) addShare(usage, before);
      return false;
    }
    if (usage.workers > 0) this.#usages.set(credentialName, usage);
    else this.#usages.delete(credentialName);
    return true;
  }

  /** Returns the number of a credential's workers; 0 for workers without credentials. */
  countWorkers(credentialName: string): number {
    return this.#usages.get(credentialName)?.workers ?? 0;
  }

  #isWithinLimits({ workers, models, tools, servers, slots, bytes, pools }: Usage): boolean {
    return (
      workers <= maxWorkers &&
      pools.size <= maxPools &&
      models <= maxModels &&
      tools <= maxTools &&
      servers <= maxServers &&
      slots <= maxSlots &&
      bytes <= this.#maxBytes
    );
  }
}

function createUsage(): Usage {
  return { workers: 0, models: 0, tools: 0, servers: 0, slots: 0, bytes: 0, pools: new Map() };
}

function addShare(usage: Usage, { pool: key, models, tools, servers, slots, bytes }: WorkerShare): void {
  const pool = usage.pools.get(key) ?? { workers: 0, models, tools, servers, bytes: parsedFactor * bytes };
  if (pool.workers === 0) {
    usage.pools.set(key, pool);
    usage.models += pool.models;
    usage.tools += pool.tools;
    usage.servers += pool.servers;
    usage.bytes += pool.bytes;
  }
  pool.workers += 1;
  usage.workers += 1;
  usage.slots += slots;
  usage.bytes += bytes;
}

function removeShare(usage: Usage, { pool: key, slots, bytes }: WorkerShare): void {
  const pool = usage.pools.get(key);
  if (!pool) return;
  pool.workers -= 1;
  usage.workers -= 1;
  usage.slots -= slots;
  usage.bytes -= bytes;
  if (pool.workers > 0) return;
  usage.pools.delete(key);
  usage.models -= pool.models;
  usage.tools -= pool.tools;
  usage.servers -= pool.servers;
  usage.bytes -= pool.bytes;
}
