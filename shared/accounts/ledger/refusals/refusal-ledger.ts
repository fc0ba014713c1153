import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Logger } from '#shared/core/log.ts';
import { keyNamesScript, toKeyNameBounds } from '../ledger-entry.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { RefusalCounts } from './refusal-counts.ts';
import { samplesKeptMs, sampleStreams } from './refusal-sample.ts';
import { type Refusal, RefusalSampler } from './refusal-sampler.ts';

const write = new RedisScript(keyNamesScript, new URL('lua/write.lua', import.meta.url));

/** Milliseconds after a refusal until it is written, and between two writes. */
const writeEveryMs = 2_000;

/** Milliseconds for which `close` tries to write the waiting refusals. */
const maxCloseMs = 2_000;

type Batch = Readonly<Record<string, unknown>>;

/**
 * Counts refused requests by hour, code and key, and keeps samples of them. Requests do not wait for the writes. The number of counts and
 * samples is bounded in Redis, and in memory while Redis is unavailable. A batch is counted once, even if the reply to it was lost.
 */
export class RefusalLedger {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #writer = randomUUID();
  readonly #sampler = new RefusalSampler();
  #counts = new RefusalCounts();
  #batch: Batch | undefined;
  #batches = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  /** @param prefix start of all names in Redis; the names of refusals begin with `<prefix>usage:refusals:` */
  constructor(redis: Redis, prefix: string, log: Logger) {
    this.#redis = redis;
    this.#prefix = `${prefix}usage:`;
    this.#log = log;
  }

  get backlog(): number {
    return this.#counts.size;
  }

  /** Counts a refusal. It is written within seconds. */
  add(refusal: Refusal): void {
    const { error, key } = refusal;
    const now = Date.now();
    this.#counts.add(error.code, key, now);
    this.#sampler.add(refusal, now);
    this.#timer ??= setTimeout(() => void this.#write(), writeEveryMs);
  }

  /** Writes the waiting refusals and stops, after two seconds at most. */
  async close(): Promise<void> {
    const deadline = performance.now() + maxCloseMs;
    // A write that is in progress contains no refusals that were added after its beginning.
    await this.#writing;
    await this.#write();
    while (this.#isBehind && performance.now() < deadline) {
      await sleep(50);
      await this.#write();
    }
    clearTimeout(this.#timer);
    if (this.#isBehind) this.#log.warn({ rows: this.backlog }, 'some refusals could not be written down');
  }

  get #isBehind(): boolean {
    return this.#batch !== undefined || this.#counts.size > 0;
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = undefined;
      clearTimeout(this.#timer);
      this.#timer = this.#isBehind ? setTimeout(() => void this.#write(), writeEveryMs) : undefined;
    });
    return this.#writing;
  }

  async #writeBatch(): Promise<void> {
    if (!this.#isBehind) return;
    this.#batch ??= this.#takeBatch();
    try {
      await write.run(this.#redis, { args: this.#batch });
      this.#batch = undefined;
    } catch (error) {
      this.#log.debug({ err: error, rows: this.backlog }, 'refusals are not written down yet');
    }
  }

  #takeBatch(): Batch {
    const samples = this.#sampler.take();
    const batch = {
      prefix: this.#prefix,
      writer: this.#writer,
      batch: ++this.#batches,
      periods: this.#counts.toPeriods(),
      samples: samples.map(({ stream, sample }) => ({
        stream,
        maxSamples: sampleStreams[stream],
        text: JSON.stringify(sample),
      })),
      keyNameBounds: toKeyNameBounds(),
      oldest: Date.now() - samplesKeptMs,
      keptMs: samplesKeptMs,
    };
    this.#counts = new RefusalCounts();
    return batch;
  }
}
