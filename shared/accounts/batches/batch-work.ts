import type { Redis } from 'ioredis';
import { filesScripts, toFileArgs } from '../files/file-records.ts';
import { ledgerScripts, type LedgerEntry } from '../ledger/ledger-entry.ts';
import { callRedis, callRedisAll, createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { RedisScript, scriptStart } from '#shared/store/redis/redis-script.ts';
import { StoredRecords, skipUnreadable, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { toStoredFields } from '#shared/store/redis/stored-value.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { emitScript } from '../webhooks/webhook-outbox.ts';
import {
  batchRecordSchema,
  type BatchMove,
  type BatchPause,
  type BatchProblem,
  type BatchRecord,
  type LineUsage,
} from './batch-record.ts';
import {
  lineErrorSchema,
  openResult,
  type LineError,
  type LineObject,
  type LineResult,
  type StorableResult,
} from './line-result.ts';
import { sliceResultsSchema, sliceSchema, type Slice, type SlicePart, type SliceResults } from './slice.ts';

const batchesScript = new URL('lua/batches.lua', import.meta.url);
const createScript = (name: string, ...preludes: readonly URL[]): RedisScript =>
  new RedisScript(...preludes, batchesScript, new URL(`lua/${name}.lua`, import.meta.url));
const cancel = createScript('cancel', scriptStart);
const close = createScript('close', scriptStart);
const move = createScript('move', emitScript, ...filesScripts);
const recordLine = createScript('record-line', ...ledgerScripts, ...filesScripts);
const holdInput = createScript('hold-input', ...filesScripts);
const endSlice = createScript('end-slice', ...filesScripts);
const release = createScript('release', ...filesScripts);
const writeSlices = createScript('write-slices', scriptStart);
const pauseBatch = createScript('pause', scriptStart);

const slicesAtOnce = 500;

/** Maximum bytes of results that one read of Redis returns, unless a single result is larger. */
const bytesAtOnce = 1024 * 1024;

const releasedAtOnce = 500;

/**
 * Batches, for the processes that work on them. Any number of processes may work on the same batch, and even on the same slice: each line's
 * result is recorded once, each slice ends once, and each state is left once. Every method throws RouterError `store_unavailable`.
 */
export class BatchWork {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #records: StoredRecords<BatchRecord>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, { report }: { report: ReportUnreadable }) {
    this.#redis = redis;
    this.#prefix = prefix;
    const nameOf = (id: string): string => `${prefix}batch:${id}`;
    this.#records = new StoredRecords(redis, { kind: 'batch', nameOf, schema: batchRecordSchema, report });
  }

  /** Returns a batch of any owner; undefined if the id is unknown. */
  find(id: string): Promise<BatchRecord | undefined> {
    return this.#records.find(id);
  }

  /** Returns the unfinished batches, without those that cannot be read. With `max`, only the `max` batches that expire first are read. */
  async listOpen(max?: number): Promise<BatchRecord[]> {
    const last = max === undefined ? '-1' : String(max - 1);
    const ids = await callRedis(this.#redis.zrange(`${this.#prefix}batches-open`, '0', last));
    const batches = await Promise.all(ids.map((id) => skipUnreadable(this.#records.find(id))));
    return batches.filter((batch) => batch !== undefined);
  }

  countAllOpen(): Promise<number> {
    return callRedis(this.#redis.zcard(`${this.#prefix}batches-open`));
  }

  /** Counts the batches of an owner that are unfinished, or over but not yet closed. */
  countOpen(owner: string): Promise<number> {
    return callRedis(this.#redis.zcard(`${this.#prefix}batches-open-of:${owner}`));
  }

  /**
   * Returns ids of batches that have no record any more, but may still hold objects. Such a batch was removed, or its record expired before
   * a runner ended the batch. The batches that expired first come first.
   */
  async listOrphans(max: number): Promise<string[]> {
    const ids = await callRedis(this.#redis.zrange(`${this.#prefix}batches-open`, '0', '-1'));
    if (ids.length === 0) return [];
    const steps = this.#redis.pipeline();
    for (const id of ids) steps.exists(`${this.#prefix}batch:${id}`);
    const recordCounts = await callRedisAll(steps);
    return ids.filter((_, index) => recordCounts[index] === 0).slice(0, max);
  }

  /** Removes from Redis all entries of a batch that has no record any more. */
  async drop(id: string): Promise<void> {
    const names = ['slices', 'done'].map((kind) => this.#toName(kind, id));
    await callRedis(this.#redis.del(names));
    await callRedis(this.#redis.zrem(`${this.#prefix}batches-open`, id));
  }

  /**
   * Moves a batch to another state. If the new state is `ended` or `failed`, emits the event for its owner's webhooks.
   * @returns false if the batch is not in the state `from`
   * @throws RouterError `store_unavailable` if Redis does not answer, an upload among `files` counts as dead, or its owner no longer exists
   */
  async move(id: string, { from, to, fields = {}, timed, files: newFiles = [] }: BatchMove): Promise<boolean> {
    const isOver = to === 'ended' || to === 'failed';
    const args = {
      prefix: this.#prefix,
      id,
      from,
      to,
      timed,
      isOver,
      fields: toStoredFields(fields),
      files: newFiles.map(toFileArgs),
    };
    const reply = await move.run(this.#redis, { args, texts: newFiles.map((file) => JSON.stringify(file)) });
    if (reply === -1) throw createStoreUnavailableError(`the files of ${id} took too long, or their owner is gone`);
    return reply === 1;
  }

  /**
   * Cancels a batch whose key may no longer be used.
   * @returns whether the batch was unfinished
   */
  async cancel(id: string): Promise<boolean> {
    return (await cancel.run(this.#redis, { args: { prefix: this.#prefix, id } })) === 1;
  }

  /** Removes what a batch that is over no longer needs. */
  async close(id: string): Promise<void> {
    await close.run(this.#redis, { args: { prefix: this.#prefix, id } });
  }

  /** Stores the positions of a batch's slices in its input. Does nothing if the batch is not `validating` any more. */
  async writeSlices(id: string, slices: readonly Slice[]): Promise<void> {
    for (let first = 0; first < slices.length; first += slicesAtOnce) {
      const texts = slices.slice(first, first + slicesAtOnce).map((slice) => JSON.stringify(slice));
      await writeSlices.run(this.#redis, { args: { prefix: this.#prefix, id, first }, texts });
    }
  }

  /** Returns the position of a slice in the input; undefined if the slice is unknown, or its batch is over. */
  async readSlice(id: string, slice: number): Promise<Slice | undefined> {
    return sliceSchema.safeParse(await callRedis(this.#redis.hget(this.#toName('slices', id), String(slice)))).data;
  }

  async listEndedSlices(id: string): Promise<Set<number>> {
    return new Set((await callRedis(this.#redis.hkeys(this.#toName('done', id)))).map(Number));
  }

  /** Returns the objects with the results of a slice; undefined until the slice is over. */
  async readSliceResults(id: string, slice: number): Promise<SliceResults | undefined> {
    return sliceResultsSchema.safeParse(await callRedis(this.#redis.hget(this.#toName('done', id), String(slice))))
      .data;
  }

  async listRecordedLines(id: string, slice: number): Promise<Set<number>> {
    return new Set((await callRedis(this.#redis.hkeys(this.#toName('results', `${id}:${slice}`)))).map(Number));
  }

  /** Yields the results of a slice's lines in the order of `lines`; undefined for a result that is missing or cannot be opened. */
  async *readResults(
    id: string,
    slice: number,
    lines: readonly number[],
    sealer: Sealer,
  ): AsyncGenerator<LineResult | LineObject | undefined, undefined> {
    const name = this.#toName('results', `${id}:${slice}`);
    for (const group of await this.#groupBySize(name, lines)) {
      const storedTexts = await callRedis(this.#redis.hmget(name, ...group.map(String)));
      for (const text of storedTexts) yield text === null ? undefined : openResult(text, sealer);
    }
  }

  /**
   * Records the result of a line and, in the same step, writes the line's requests into the usage ledger. From then on, the batch holds the
   * object with the result, if there is one. A repeated call with the same result changes nothing.
   * @returns false, with nothing written, if the line had another result or its slice was over
   * @throws RouterError `store_unavailable` if Redis does not answer, or the upload of the object counts as dead
   */
  async recordLine(
    { id, slice, line }: { id: string; slice: number; line: number },
    { outcome, error, storedText, part }: StorableResult,
    usage: LineUsage,
    { args: ledger, texts }: LedgerEntry,
  ): Promise<boolean> {
    const args = { prefix: this.#prefix, id, slice, line, outcome, error, part, usage, ledger };
    const reply = await recordLine.run(this.#redis, { args, texts: [storedText, ...texts] });
    if (reply === -1)
      throw createStoreUnavailableError(`the result of line ${line} of slice ${slice} of ${id} took too long`);
    return reply === 1;
  }

  /** Returns the errors of the first lines whose recorded result is an error. */
  async readFirstErrors(id: string): Promise<LineError[]> {
    const errors = await callRedis(this.#redis.lrange(this.#toName('errors', id), 0, -1));
    return errors.flatMap((text) => lineErrorSchema.safeParse(text).data ?? []);
  }

  /**
   * Ends a slice whose results are in objects. From then on, the batch holds these objects.
   * @param counts how many lines have a recorded result, and how many were cancelled or expired instead
   * @param results the objects: uploads, and the objects of single lines, which the batch holds already
   * @param problem a problem in the input, if the objects lack lines because of it
   * @returns `changed` if results were recorded that the objects lack, `lapsed` if an upload counts as dead
   */
  async endSlice(
    { id, slice }: { id: string; slice: number },
    counts: { recorded: number; cancelled: number; expired: number },
    { output, errors, lines }: { output?: SlicePart; errors?: SlicePart; lines?: SliceResults },
    problem?: BatchProblem,
  ): Promise<'ended' | 'was over' | 'changed' | 'lapsed'> {
    const parts = [output, errors].flatMap((part) => (part ? { object: part.object, bytes: part.bytes } : []));
    const fields = toStoredFields(problem ? { problems: [problem] } : {});
    const args = { prefix: this.#prefix, id, slice, ...counts, parts, fields };
    const listNames = (part: SlicePart | undefined, large: readonly string[] = []) =>
      part ? [part.object, ...large] : large;
    const results = { output: listNames(output, lines?.output), errors: listNames(errors, lines?.errors) };
    const reply = await endSlice.run(this.#redis, { args, texts: [JSON.stringify(results)] });
    if (reply === -2) return 'lapsed';
    if (reply === -1) return 'changed';
    return reply === 1 ? 'ended' : 'was over';
  }

  /** Stores why lines of a batch wait; `pause` is undefined if they no longer wait. Does nothing for a batch that is over. */
  async setPause(id: string, pause: BatchPause | undefined): Promise<void> {
    const blockedUntil = pause?.pausesAllLines === true ? pause.until : undefined;
    const { until: pausedUntil, reason: pausedFor, lacksWorker } = pause ?? {};
    const fields = pause && toStoredFields({ pausedUntil, pausedFor, blockedUntil, lacksWorker });
    await pauseBatch.run(this.#redis, { args: { prefix: this.#prefix, id, pause: fields } });
  }

  /**
   * Lets a `validating` batch hold the content of its input file. Even if the file is removed, the content then stays, and counts for its
   * owner, until the batch releases it.
   * @returns the object; undefined if the owner has no such file, or the batch is not `validating` any more
   */
  async holdInput(id: string): Promise<string | undefined> {
    const object = await holdInput.run(this.#redis, { args: { prefix: this.#prefix, id } });
    return typeof object === 'string' ? object : undefined;
  }

  /**
   * Releases some of the objects that a batch holds, if the batch is over or unknown.
   * @returns the objects that may be removed, and how many objects the batch still holds
   */
  async release(id: string): Promise<{ objects: string[]; left: number }> {
    const reply = await release.run(this.#redis, { args: { prefix: this.#prefix, id, maxObjects: releasedAtOnce } });
    const [objectsLeft, ...objects] = Array.isArray(reply) ? reply : [];
    return { objects: objects.map(String), left: Number(objectsLeft ?? 0) };
  }

  /** Groups line numbers so that the results of each group are small enough for one read. */
  async #groupBySize(name: string, lines: readonly number[]): Promise<number[][]> {
    if (lines.length === 0) return [];
    const steps = this.#redis.pipeline();
    for (const line of lines) steps.hstrlen(name, String(line));
    const sizes = await callRedisAll(steps);
    const groups: number[][] = [];
    let bytesLeft = 0;
    for (const [index, line] of lines.entries()) {
      const bytes = Number(sizes[index]);
      const group = groups.at(-1);
      if (group && bytes <= bytesLeft) group.push(line);
      else {
        groups.push([line]);
        bytesLeft = bytesAtOnce;
      }
      bytesLeft -= bytes;
    }
    return groups;
  }

  #toName(kind: string, id: string): string {
    return `${this.#prefix}batch-${kind}:${id}`;
  }
}
