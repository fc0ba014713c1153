import type { Redis } from 'ioredis';
import { fileArgs, type FileRecord } from '../files/file-records.ts';
import { ledgerScripts, type LedgerEntry } from '../ledger/ledger-entry.ts';
import { askRedis, askRedisAll, storeUnavailable } from '../redis/ask-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { StoredRecords, skipUnreadable, type ReportUnreadable } from '../redis/stored-records.ts';
import { storedFields } from '../redis/stored-value.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { emitScript } from '../webhooks/webhook-outbox.ts';
import { batchRecordSchema, type BatchProblem, type BatchRecord, type BatchState } from './batch-record.ts';
import {
  lineErrorSchema,
  openResult,
  type LineError,
  type LineObject,
  type LineResult,
  type StorableResult,
} from './line-result.ts';
import { namesOf, sliceResultsSchema, sliceSchema, type Slice, type SlicePart, type SliceResults } from './slice.ts';

const common = new URL('lua/batches.lua', import.meta.url);
const cancel = new RedisScript(common, new URL('lua/cancel.lua', import.meta.url));
const close = new RedisScript(common, new URL('lua/close.lua', import.meta.url));
const files = new URL('../files/lua/files.lua', import.meta.url);
const move = new RedisScript(emitScript, files, common, new URL('lua/move.lua', import.meta.url));
const recordLine = new RedisScript(...ledgerScripts, files, common, new URL('lua/record-line.lua', import.meta.url));
const holdInput = new RedisScript(files, common, new URL('lua/hold-input.lua', import.meta.url));
const endSlice = new RedisScript(files, common, new URL('lua/end-slice.lua', import.meta.url));
const release = new RedisScript(files, common, new URL('lua/release.lua', import.meta.url));
const writeSlices = new RedisScript(common, new URL('lua/write-slices.lua', import.meta.url));
const pauseBatch = new RedisScript(common, new URL('lua/pause.lua', import.meta.url));

/** Slices whose places are written in one call. */
const slicesAtOnce = 500;

/** Bytes of results that are read from Redis at once, unless one is larger. */
const bytesAtOnce = 1024 * 1024;

/** Objects that a batch releases in one call. */
const releasedAtOnce = 500;

/** What a line's requests came to, as the record counts it. */
export type LineUsage = Pick<
  BatchRecord,
  'promptTokens' | 'cachedTokens' | 'completionTokens' | 'reasoningTokens' | 'cost'
>;

/** What moves a batch from one state to another. */
export interface BatchMove {
  from: BatchState;
  to: BatchState;
  /** What of the record changes with it. */
  fields?: Partial<BatchRecord>;
  /** The field that gets the time of it. */
  timed?: 'runningAt' | 'finishingAt' | 'endedAt' | 'failedAt';
  /** Files that are made with it, of uploads of its owner. */
  files?: readonly FileRecord[];
}

/** Why lines of a batch wait. */
export interface BatchPause {
  /** When they are tried again, in ms since 1970. */
  until: number;
  /** As its user reads it. */
  reason: string;
  /** Whether no line of the batch is to be tried before. */
  isForAll: boolean;
  /** Whether they wait for a worker, and are tried as soon as there is one. */
  lacksWorker?: boolean;
}

/**
 * The batches as those who work on them see them. Any number may work on the same batch, also on the same slice of it: each result
 * is recorded once, each slice ends once, and each state is left once. Every method throws RouterError `store_unavailable`.
 */
export class BatchWork {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #records: StoredRecords<BatchRecord>;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string, { report }: { report: ReportUnreadable }) {
    this.#redis = redis;
    this.#prefix = prefix;
    const nameOf = (id: string): string => `${prefix}batch:${id}`;
    this.#records = new StoredRecords(redis, { kind: 'batch', nameOf, schema: batchRecordSchema, report });
  }

  /** A batch, whoever owns it; undefined for an unknown one. */
  find(id: string): Promise<BatchRecord | undefined> {
    return this.#records.find(id);
  }

  /** The batches that are not over and that can be read: all, or as many of those that expire first. */
  async open(most?: number): Promise<BatchRecord[]> {
    const last = most === undefined ? '-1' : String(most - 1);
    const ids = await askRedis(this.#redis.zrange(`${this.#prefix}batches-open`, '0', last));
    const found = await Promise.all(ids.map((id) => skipUnreadable(this.#records.find(id))));
    return found.filter((batch) => batch !== undefined);
  }

  /** How many batches are not over. */
  countAllOpen(): Promise<number> {
    return askRedis(this.#redis.zcard(`${this.#prefix}batches-open`));
  }

  /** How many batches of an owner are not over, those that are still to be closed included. */
  countOpen(owner: string): Promise<number> {
    return askRedis(this.#redis.zcard(`${this.#prefix}batches-open-of:${owner}`));
  }

  /**
   * Ids of batches that are not known any more, and whose objects may be left: each was removed, or nobody worked on it until it was
   * forgotten. The oldest come first.
   */
  async forgotten(most: number): Promise<string[]> {
    const ids = await askRedis(this.#redis.zrange(`${this.#prefix}batches-open`, '0', '-1'));
    if (ids.length === 0) return [];
    const steps = this.#redis.pipeline();
    for (const id of ids) steps.exists(`${this.#prefix}batch:${id}`);
    const found = await askRedisAll(steps);
    return ids.filter((_, at) => found[at] === 0).slice(0, most);
  }

  /** Drops what is left in Redis of a batch that is not known any more. */
  async drop(id: string): Promise<void> {
    const names = ['slices', 'done'].map((kind) => this.#name(kind, id));
    await askRedis(this.#redis.del(names));
    await askRedis(this.#redis.zrem(`${this.#prefix}batches-open`, id));
  }

  /**
   * Moves a batch to another state. Its owner's webhooks are sent that it is over.
   * @returns false if it is not in the first one
   * @throws RouterError `store_unavailable` also if an upload that is to become a file counts as dead, or its owner is gone
   */
  async move(id: string, { from, to, fields = {}, timed, files: made = [] }: BatchMove): Promise<boolean> {
    const isOver = to === 'ended' || to === 'failed';
    const args = {
      prefix: this.#prefix,
      id,
      from,
      to,
      timed,
      isOver,
      fields: storedFields(fields),
      files: made.map(fileArgs),
    };
    const reply = await move.run(this.#redis, { args, texts: made.map((file) => JSON.stringify(file)) });
    if (reply === -1) throw storeUnavailable(`the files of ${id} took too long, or their owner is gone`);
    return reply === 1;
  }

  /** Has a batch cancelled that nobody may have served any more. @returns whether it was not over */
  async cancel(id: string): Promise<boolean> {
    return (await cancel.run(this.#redis, { args: { prefix: this.#prefix, id } })) === 1;
  }

  /** Forgets what a batch that is over needs no more. */
  async close(id: string): Promise<void> {
    await close.run(this.#redis, { args: { prefix: this.#prefix, id } });
  }

  /** Writes where the slices of a batch are. Does nothing for one that is not to be validated any more. */
  async writeSlices(id: string, slices: readonly Slice[]): Promise<void> {
    for (let first = 0; first < slices.length; first += slicesAtOnce) {
      const texts = slices.slice(first, first + slicesAtOnce).map((slice) => JSON.stringify(slice));
      await writeSlices.run(this.#redis, { args: { prefix: this.#prefix, id, first }, texts });
    }
  }

  /** Where a slice is; undefined for an unknown one, and for one of a batch that is over. */
  async slice(id: string, slice: number): Promise<Slice | undefined> {
    return sliceSchema.safeParse(await askRedis(this.#redis.hget(this.#name('slices', id), String(slice)))).data;
  }

  /** Numbers of the slices that are over. */
  async doneSlices(id: string): Promise<Set<number>> {
    return new Set((await askRedis(this.#redis.hkeys(this.#name('done', id)))).map(Number));
  }

  /** The objects with the results of a slice that is over; undefined for one that is not. */
  async resultsOf(id: string, slice: number): Promise<SliceResults | undefined> {
    return sliceResultsSchema.safeParse(await askRedis(this.#redis.hget(this.#name('done', id), String(slice)))).data;
  }

  /** Numbers of the lines of a slice that have a result. */
  async recordedLines(id: string, slice: number): Promise<Set<number>> {
    return new Set((await askRedis(this.#redis.hkeys(this.#name('results', `${id}:${slice}`)))).map(Number));
  }

  /** Results of lines, in the order of their numbers in the slice that are given; undefined for one that cannot be opened. */
  async *results(
    id: string,
    slice: number,
    lines: readonly number[],
    sealer: Sealer,
  ): AsyncGenerator<LineResult | LineObject | undefined, undefined> {
    const name = this.#name('results', `${id}:${slice}`);
    for (const some of await this.#bySize(name, lines)) {
      const stored = await askRedis(this.#redis.hmget(name, ...some.map(String)));
      for (const text of stored) yield text === null ? undefined : openResult(text, sealer);
    }
  }

  /**
   * Records the result of a line together with its requests in the usage ledger. The batch holds its object from then on. May be called
   * again with the same result.
   * @throws also if the upload of its object counts as dead
   * @returns false if the line had another result, or its slice was over: then nothing was written
   */
  async recordLine(
    { id, slice, line }: { id: string; slice: number; line: number },
    { outcome, error, stored, part }: StorableResult,
    usage: LineUsage,
    { args: ledger, texts }: LedgerEntry,
  ): Promise<boolean> {
    const args = { prefix: this.#prefix, id, slice, line, outcome, error, part, usage, ledger };
    const reply = await recordLine.run(this.#redis, { args, texts: [stored, ...texts] });
    if (reply === -1) throw storeUnavailable(`the result of line ${line} of slice ${slice} of ${id} took too long`);
    return reply === 1;
  }

  /** What went wrong with the first lines that were recorded with an error. */
  async firstErrors(id: string): Promise<LineError[]> {
    const errors = await askRedis(this.#redis.lrange(this.#name('errors', id), 0, -1));
    return errors.flatMap((text) => lineErrorSchema.safeParse(text).data ?? []);
  }

  /**
   * Ends a slice whose results are in objects, which the batch holds from then on.
   * @param counts how many lines of the objects were run, and how many were not
   * @param results the objects: those that were received as uploads, and those of lines, which the batch holds already
   * @param problem what is wrong with the input, if they lack lines for it
   * @returns `changed` if results were recorded that the objects have not, `lapsed` if the uploads count as dead
   */
  async endSlice(
    { id, slice }: { id: string; slice: number },
    counts: { recorded: number; cancelled: number; expired: number },
    { output, errors, lines }: { output?: SlicePart; errors?: SlicePart; lines?: SliceResults },
    problem?: BatchProblem,
  ): Promise<'ended' | 'was over' | 'changed' | 'lapsed'> {
    const parts = [output, errors].flatMap((part) => (part ? { object: part.object, bytes: part.bytes } : []));
    const fields = storedFields(problem ? { problems: [problem] } : {});
    const args = { prefix: this.#prefix, id, slice, ...counts, parts, fields };
    const results = {
      output: namesOf(output, lines?.output),
      errors: namesOf(errors, lines?.errors),
    };
    const reply = await endSlice.run(this.#redis, { args, texts: [JSON.stringify(results)] });
    if (reply === -2) return 'lapsed';
    if (reply === -1) return 'changed';
    return reply === 1 ? 'ended' : 'was over';
  }

  /** Says that lines of a batch wait for a limit or a worker, or with undefined that they do not. Does nothing for one that is over. */
  async pause(id: string, pause: BatchPause | undefined): Promise<void> {
    const blockedUntil = pause?.isForAll === true ? pause.until : undefined;
    const { until: pausedUntil, reason: pausedFor, lacksWorker } = pause ?? {};
    const fields = pause && storedFields({ pausedUntil, pausedFor, blockedUntil, lacksWorker });
    await pauseBatch.run(this.#redis, { args: { prefix: this.#prefix, id, pause: fields } });
  }

  /**
   * Has a batch that is to be validated hold the content of its input file: it stays, and counts for its owner, until the batch
   * releases it, also if the file is removed.
   * @returns its object; undefined if the owner has no such file, or the batch is not to be validated any more
   */
  async holdInput(id: string): Promise<string | undefined> {
    const object = await holdInput.run(this.#redis, { args: { prefix: this.#prefix, id } });
    return typeof object === 'string' ? object : undefined;
  }

  /**
   * Has a batch that is over, or unknown, release some of the objects that it holds.
   * @returns those that may be removed, and how many it holds still
   */
  async release(id: string): Promise<{ objects: string[]; left: number }> {
    const reply = await release.run(this.#redis, { args: { prefix: this.#prefix, id, most: releasedAtOnce } });
    const [left, ...objects] = Array.isArray(reply) ? reply : [];
    return { objects: objects.map(String), left: Number(left ?? 0) };
  }

  /** Numbers of lines in groups whose results are small enough to be read at once. */
  async #bySize(name: string, lines: readonly number[]): Promise<number[][]> {
    if (lines.length === 0) return [];
    const steps = this.#redis.pipeline();
    for (const line of lines) steps.hstrlen(name, String(line));
    const sizes = await askRedisAll(steps);
    const groups: number[][] = [];
    let left = 0;
    for (const [at, line] of lines.entries()) {
      const bytes = Number(sizes[at]);
      const group = groups.at(-1);
      if (group && bytes <= left) group.push(line);
      else {
        groups.push([line]);
        left = bytesAtOnce;
      }
      left -= bytes;
    }
    return groups;
  }

  #name(kind: string, id: string): string {
    return `${this.#prefix}batch-${kind}:${id}`;
  }
}
