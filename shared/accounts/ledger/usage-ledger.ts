import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Logger } from '#shared/core/log.ts';
import { RedisScript, type ScriptInput } from '#shared/store/redis/redis-script.ts';
import { agentSessionsKeptMs } from './agent-sessions/session-names.ts';
import { toLedgerEntry, ledgerScripts, type LedgerEntry } from './ledger-entry.ts';
import type { UsageRecord } from './usage-record.ts';

const write = new RedisScript(...ledgerScripts, new URL('lua/write.lua', import.meta.url));

const writeEveryMs = 500;

const batchSize = 500;

/**
 * Milliseconds for which a written batch stays in memory, so that it can be written again. A primary that fails may lose batches that its
 * replica has not received. Sentinels name the new primary within this time.
 */
const rememberedMs = 20_000;

/** Maximum number of written batches in memory. Together they have 20,000 requests and take some ten megabytes. */
const maxRemembered = 40;

const closeMs = 3_000;

export interface UsageLedgerBounds {
  /** Maximum number of single requests that are kept. */
  maxRequests: number;
  /** Milliseconds for which single requests are kept. */
  requestsKeptMs: number;
  /** Maximum number of requests that wait to be written while Redis is unavailable. Default 10,000. */
  maxWaiting?: number;
  /**
   * Maximum number of fields in the totals of one day or month. A row has about four fields. Further rows are counted together. Default
   * 200,000.
   */
  maxFields?: number;
  /** Maximum number of keys whose names are kept. Default 200,000. */
  maxKeyNames?: number;
  /** Milliseconds for which a session of a coding agent is kept after its last turn. If 0, no sessions are kept. Default 7 days. */
  sessionsKeptMs?: number;
}

interface Batch {
  number: number;
  records: UsageRecord[];
}

/**
 * Writes every finished request to Redis, in batches. No request waits for this. A batch is written once, even if the reply was lost. Each
 * new connection to Redis may lead to a new primary, which may lack the last batches. So the last batches are written again, and the script
 * skips every batch that is stored. While Redis is unavailable, finished requests wait in memory. Requests beyond the maximum are dropped
 * and counted.
 */
export class UsageLedger {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #bounds: UsageLedgerBounds & Required<Omit<UsageLedgerBounds, 'maxKeyNames'>>;
  readonly #writer = randomUUID();
  readonly #timer: NodeJS.Timeout;
  #waiting: UsageRecord[] = [];
  #currentBatch: Batch | undefined;
  #batchCount = 0;
  /** Batches that were written lately, oldest first, each with the time when it was written, in ms of performance.now(). */
  #writtenBatches: { batch: Batch; at: number }[] = [];
  /** Batches of `#writtenBatches` that are written again before any other batch. */
  #batchesToRepeat: Batch[] = [];
  #writing: Promise<void> | undefined;
  #dropped = 0;
  /** Whether requests were dropped since the last write. */
  #isDropping = false;

  /** @param prefix start of all names in Redis; `usage:…` follows in the names of the ledger, see `lua/write.lua` */
  constructor(redis: Redis, prefix: string, log: Logger, bounds: UsageLedgerBounds) {
    this.#redis = redis;
    this.#prefix = `${prefix}usage:`;
    this.#log = log;
    this.#bounds = { maxWaiting: 10_000, maxFields: 200_000, sessionsKeptMs: agentSessionsKeptMs, ...bounds };
    this.#timer = setInterval(() => void this.#write(), writeEveryMs);
    redis.on('ready', this.#onConnected);
  }

  /** Number of requests that were dropped so far, because too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  get backlog(): number {
    return this.#waiting.length + (this.#currentBatch?.records.length ?? 0);
  }

  /** Adds a finished request, which is written within a second. */
  add(record: UsageRecord): void {
    if (this.#waiting.length >= this.#bounds.maxWaiting) {
      if (!this.#isDropping) this.#log.error('Redis is away for too long: use is not written down any more');
      this.#isDropping = true;
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(record);
    if (this.#waiting.length === batchSize) void this.#write();
  }

  /** Writes all waiting requests, for three seconds at most, and stops. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const deadline = performance.now() + closeMs;
    await this.#write();
    while (this.#isBehind && performance.now() < deadline) {
      await sleep(50);
      await this.#write();
    }
    this.#redis.off('ready', this.#onConnected);
    if (this.backlog > 0) this.#log.error({ requests: this.backlog }, 'some use could not be written down');
  }

  get #isBehind(): boolean {
    return this.backlog > 0 || this.#batchesToRepeat.length > 0;
  }

  readonly #onConnected = (): void => {
    this.#trimWritten();
    this.#batchesToRepeat = this.#writtenBatches.map(({ batch }) => batch);
  };

  #trimWritten(): void {
    const oldest = performance.now() - rememberedMs;
    const kept = this.#writtenBatches.filter(({ at }) => at >= oldest);
    this.#writtenBatches = kept.slice(-maxRemembered);
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#isBehind) {
        const [oldBatch] = this.#batchesToRepeat;
        if (oldBatch) {
          await write.run(this.#redis, this.#toInput(oldBatch));
          if (this.#batchesToRepeat[0] === oldBatch) this.#batchesToRepeat.shift();
          continue;
        }
        this.#currentBatch ??= { number: ++this.#batchCount, records: this.#waiting.splice(0, batchSize) };
        const batch = this.#currentBatch;
        await write.run(this.#redis, this.#toInput(batch));
        this.#currentBatch = undefined;
        this.#isDropping = false;
        this.#writtenBatches.push({ batch, at: performance.now() });
        this.#trimWritten();
      }
    } catch (error) {
      this.#log.debug({ err: error, waiting: this.backlog }, 'use is not written down yet');
    }
  }

  /** Returns the arguments of `writeUsage`, for a script that writes these requests together with something else. */
  createEntry(records: readonly UsageRecord[]): LedgerEntry {
    return toLedgerEntry(records, { prefix: this.#prefix, ...this.#bounds });
  }

  #toInput({ number, records }: Batch): ScriptInput {
    const { args, texts } = this.createEntry(records);
    return { args: { ...args, writer: this.#writer, batch: number }, texts };
  }
}
