import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Logger } from '#shared/core/log.ts';
import { RedisScript, type ScriptInput } from '../redis/redis-script.ts';
import { ledgerEntry, ledgerScripts, type LedgerEntry } from './ledger-entry.ts';
import type { UsageRecord } from './usage-record.ts';

const write = new RedisScript(...ledgerScripts, new URL('lua/write.lua', import.meta.url));

/** Milliseconds that a request waits to be written. */
const writeEveryMs = 500;

/** Requests in one batch. */
const batchSize = 500;

/**
 * Milliseconds for which a written batch is remembered. A primary that fails may take batches with it that its replica has not
 * received; sentinels name the new one within that time.
 */
const rememberedMs = 20_000;

/** Batches that are remembered at most: 20,000 requests, some ten megabytes. */
const maxRemembered = 40;

/** Milliseconds for what is left at the end. */
const closeMs = 3_000;

/** Bounds of a UsageLedger. */
export interface UsageLedgerBounds {
  /** Requests that are kept singly. */
  maxRequests: number;
  /** Milliseconds for which they are. */
  requestsKeptMs: number;
  /** Requests that may wait to be written while Redis is away. */
  maxWaiting?: number;
  /**
   * Fields of one day's or month's totals; a row has four or so. Keys and models that come later are counted together.
   * Default 200,000.
   */
  maxFields?: number;
  /** Milliseconds for which sessions of coding agents are kept after their last turn; 0 keeps none. Default 7 days. */
  sessionsKeptMs?: number;
}

interface Batch {
  number: number;
  records: UsageRecord[];
}

/**
 * Writes down every request that is over, in batches, never on a request's way. A batch is written once, also when the answer
 * to it was lost. After each connection to Redis, which may lead to a new primary, the last batches are written again: the script
 * leaves those alone that are there. While Redis is away as much is kept as may wait; what comes on top is counted as dropped.
 */
export class UsageLedger {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #bounds: Required<UsageLedgerBounds>;
  readonly #writer = randomUUID();
  readonly #timer: NodeJS.Timeout;
  #waiting: UsageRecord[] = [];
  #batch: Batch | undefined;
  #batches = 0;
  /** Batches that were written lately, oldest first, and when. */
  #written: { batch: Batch; at: number }[] = [];
  /** Of these, those to write again before anything else. */
  #again: Batch[] = [];
  #writing: Promise<void> | undefined;
  #dropped = 0;

  /** @param prefix first part of the names in Redis; the ledger's follow as `usage:…`, see `lua/write.lua` */
  constructor(redis: Redis, prefix: string, log: Logger, bounds: UsageLedgerBounds) {
    this.#redis = redis;
    this.#prefix = `${prefix}usage:`;
    this.#log = log;
    this.#bounds = { maxWaiting: 10_000, maxFields: 200_000, sessionsKeptMs: 7 * 86_400_000, ...bounds };
    this.#timer = setInterval(() => void this.#write(), writeEveryMs);
    redis.on('ready', this.#onConnected);
  }

  /** Requests that could not be written down so far, because too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Requests that wait to be written down. */
  get backlog(): number {
    return this.#waiting.length + (this.#batch?.records.length ?? 0);
  }

  /** Takes a request that is over. It is written within a second. */
  add(record: UsageRecord): void {
    if (this.#waiting.length >= this.#bounds.maxWaiting) {
      if (this.#dropped === 0) this.#log.error('Redis is away for too long: use is not written down any more');
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(record);
    if (this.#waiting.length === batchSize) void this.#write();
  }

  /** Writes what is left, for a few seconds at most, and ends. */
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
    return this.backlog > 0 || this.#again.length > 0;
  }

  readonly #onConnected = (): void => {
    this.#forget();
    this.#again = this.#written.map(({ batch }) => batch);
  };

  #forget(): void {
    const oldest = performance.now() - rememberedMs;
    const kept = this.#written.filter(({ at }) => at >= oldest);
    this.#written = kept.slice(-maxRemembered);
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
        const [again] = this.#again;
        if (again) {
          await write.run(this.#redis, this.#inputOf(again));
          if (this.#again[0] === again) this.#again.shift();
          continue;
        }
        this.#batch ??= { number: ++this.#batches, records: this.#waiting.splice(0, batchSize) };
        const batch = this.#batch;
        await write.run(this.#redis, this.#inputOf(batch));
        this.#batch = undefined;
        this.#written.push({ batch, at: performance.now() });
        this.#forget();
      }
    } catch (error) {
      this.#log.debug({ err: error, waiting: this.backlog }, 'use is not written down yet');
    }
  }

  /** What a script that writes these requests together with something else passes to `writeUsage`. */
  entryOf(records: readonly UsageRecord[]): LedgerEntry {
    return ledgerEntry(records, { prefix: this.#prefix, ...this.#bounds });
  }

  #inputOf({ number, records }: Batch): ScriptInput {
    const { args, texts } = this.entryOf(records);
    return { args: { ...args, writer: this.#writer, batch: number }, texts };
  }
}
