import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { JsonObject } from '#shared/core/json.ts';
import { ledgerScripts, type LedgerEntry } from '../ledger/ledger-entry.ts';
import { callRedis } from '../redis/call-redis.ts';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';
import { StoredRecords, skipUnreadable } from '../redis/stored-records.ts';
import { keepStoredScripts, type StorableResponse } from '../stored-responses/stored-responses.ts';
import { emitScript } from '../webhooks/webhook-outbox.ts';
import { backgroundRecordSchema, type BackgroundRecord } from './background-record.ts';
import type { BackgroundResponsesDependencies } from './background-responses.ts';

const commonScripts = [scriptStart, new URL('lua/background.lua', import.meta.url)];
const begin = new RedisScript(...commonScripts, new URL('lua/begin.lua', import.meta.url));
const append = new RedisScript(...commonScripts, new URL('lua/append.lua', import.meta.url));
const noteFailure = new RedisScript(...commonScripts, new URL('lua/note-failure.lua', import.meta.url));
const charge = new RedisScript(...ledgerScripts, ...commonScripts, new URL('lua/charge.lua', import.meta.url));
const sweep = new RedisScript(...commonScripts, new URL('lua/sweep.lua', import.meta.url));
const end = new RedisScript(
  ...ledgerScripts,
  emitScript,
  ...keepStoredScripts,
  ...commonScripts,
  new URL('lua/close.lua', import.meta.url),
  new URL('lua/end.lua', import.meta.url),
);

/** Maximum bytes of the sealed events of one response. If a response has more, none of its events are kept. */
const maxEventBytes = 16 * 1024 * 1024;

/**
 * Milliseconds for which the record of a removed response stays after its use was counted, because the reply may be lost and the call
 * repeated.
 */
const chargedAgainMs = 60_000;

/** A run that has begun: its id, and the number of its first event. */
export interface StartedRun {
  runId: string;
  next: number;
}

/** Events to write to the stream of a response. */
export interface WrittenEvents {
  events: string;
  /** Number of the first event, or of an earlier event that may be written already. */
  from: number;
  last: number;
}

/** The result of a run, with its last events. */
export interface ResponseEnd extends WrittenEvents {
  state: 'completed' | 'incomplete' | 'failed';
  /** The final response object; undefined if it is among the stored responses. */
  final: JsonObject | undefined;
  /** The response to store among the stored responses, if any. */
  storedResponse: StorableResponse | undefined;
  /** The requests of the run, for the usage ledger. */
  ledger: LedgerEntry;
}

/**
 * Background responses, for the processes that make them. Any number of processes may work on the same response: only the run that began
 * last can write, and a response ends once. Every method throws RouterError `store_unavailable`.
 */
export class ResponseWork {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #dependencies: BackgroundResponsesDependencies;
  readonly #records: StoredRecords<BackgroundRecord>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, dependencies: BackgroundResponsesDependencies) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#dependencies = dependencies;
    const nameOf = (id: string): string => `${prefix}background-response:${id}`;
    const { report } = dependencies;
    const kind = 'background response';
    this.#records = new StoredRecords(redis, { kind, nameOf, schema: backgroundRecordSchema, report });
  }

  /** Returns a response of any owner; undefined if the id is unknown. */
  find(id: string): Promise<BackgroundRecord | undefined> {
    return this.#records.find(id);
  }

  /** Returns up to `max` unfinished responses, the oldest first, without those that cannot be read. */
  async listOpen(max: number): Promise<BackgroundRecord[]> {
    const ids = await callRedis(this.#redis.zrange(`${this.#prefix}background-open`, '0', String(max - 1)));
    const records = await Promise.all(ids.map((id) => skipUnreadable(this.#records.find(id))));
    return records.filter((record) => record !== undefined);
  }

  /**
   * Returns the texts of an unfinished response: `queued` is its object before the first run, `request` what a run needs. Undefined if the
   * response is over or a text cannot be read.
   * @param includesRequest whether to read `request`, which may be large
   */
  async readTexts(
    { id, owner }: BackgroundRecord,
    includesRequest: boolean,
  ): Promise<{ request: JsonObject | undefined; queued: JsonObject } | undefined> {
    const { unseal } = this.#dependencies.keys.storeSealer(owner);
    const names = includesRequest ? ['queued', 'request'] : ['queued'];
    const sealed = await callRedis(this.#redis.hmget(`${this.#prefix}background-texts:${id}`, ...names));
    const texts = sealed.map((text) => (text === null ? undefined : unseal(text)));
    if (texts.includes(undefined)) return undefined;
    const [queued, request] = texts.map((text) => JSON.parse(text ?? '') as JsonObject);
    return queued && { queued, request };
  }

  /**
   * Begins a run. Removes the events that earlier runs have written beyond the opening of the stream.
   * @param opening the events that say that the response has begun, and the number of the last event; only the first run writes them
   * @returns undefined if the response is over or unknown
   */
  async beginRun(
    { id, owner }: BackgroundRecord,
    opening: { events: string; last: number },
  ): Promise<StartedRun | undefined> {
    // The id is random. A failover of Redis may lose the last change of a counter, and two runs would then have the same number.
    const runId = randomBytes(8).toString('hex');
    const args = { prefix: this.#prefix, id, attempt: runId, last: opening.last };
    const next = Number(
      await begin.run(this.#redis, { args, texts: [this.#dependencies.keys.storeSealer(owner).seal(opening.events)] }),
    );
    return next === -1 ? undefined : { runId, next };
  }

  /**
   * Writes events to the stream.
   * @returns false if the response is over or another run has begun
   */
  async append(
    { id, owner }: BackgroundRecord,
    runId: string,
    { events, from, last }: WrittenEvents,
  ): Promise<boolean> {
    const { ownerBytes, totalBytes } = this.#dependencies.bounds;
    const bounds = { maxBytes: maxEventBytes, ownerBytes, totalBytes };
    const args = { prefix: this.#prefix, id, attempt: runId, from, last, ...bounds };
    const sealed = await this.#dependencies.keys.storeSealer(owner).sealBytes([Buffer.from(events)]);
    return (await append.run(this.#redis, { args, texts: [sealed] })) === 1;
  }

  /**
   * Ends a response and emits the event for its owner's webhooks.
   * @returns `ended`, also if the same run has ended the response in an earlier call; `over` if the response has ended in another way or
   * another run has begun; `too large` if the answer cannot be stored
   */
  async end(
    { id, owner }: BackgroundRecord,
    runId: string,
    result: ResponseEnd,
  ): Promise<'ended' | 'over' | 'too large'> {
    const { state, events, from, last, final, storedResponse, ledger } = result;
    const sealer = this.#dependencies.keys.storeSealer(owner);
    const seal = (text: string): Promise<string> => sealer.sealBytes([Buffer.from(text)]);
    const texts = [
      await seal(events),
      final ? await seal(JSON.stringify(final)) : '',
      ...(storedResponse ? [storedResponse.content, storedResponse.entry] : ['', '']),
      ...ledger.texts,
    ];
    const recordMs = this.#dependencies.bounds.keepMs;
    const args = {
      ...storedResponse?.args,
      prefix: this.#prefix,
      id,
      owner,
      attempt: runId,
      state,
      from,
      last,
      recordMs,
    };
    const outcome = await end.run(this.#redis, { args: { ...args, ledger: ledger.args }, texts });
    if (outcome === -1) return 'too large';
    return outcome === 1 ? 'ended' : 'over';
  }

  /**
   * Writes the use of a response before its cancellation into the ledger.
   * @returns false if the response was not cancelled during this run
   */
  async charge({ id }: BackgroundRecord, runId: string, { args: ledger, texts }: LedgerEntry): Promise<boolean> {
    const args = { prefix: this.#prefix, id, attempt: runId, ledger, againMs: chargedAgainMs };
    return (await charge.run(this.#redis, { args, texts })) === 1;
  }

  /**
   * Counts a run that ended with an error, if that error counts towards the maximum number of runs.
   * @returns how many such runs the response has had
   */
  async noteFailure({ id }: BackgroundRecord): Promise<number> {
    return Number(await noteFailure.run(this.#redis, { args: { prefix: this.#prefix, id } }));
  }

  /** Removes responses that have expired, whether or not they are over. */
  async sweep(): Promise<void> {
    let expiredCount = 1;
    while (expiredCount > 0)
      expiredCount = Number(await sweep.run(this.#redis, { args: { prefix: this.#prefix, id: '' } }));
  }
}
