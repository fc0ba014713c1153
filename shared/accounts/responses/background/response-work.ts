import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { JsonObject } from '#shared/core/json.ts';
import { addEntryScript, AnswerJournal } from '#shared/store/answer-journal/answer-journal.ts';
import type { AppendOutcome, JournalEntry } from '#shared/store/answer-journal/journal-writer.ts';
import { ledgerScripts, type LedgerEntry } from '../../ledger/ledger-entry.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { skipUnreadable, type StoredRecords } from '#shared/store/redis/stored-records.ts';
import { keepStoredScripts, type StorableResponse } from '../stored/stored-responses.ts';
import { emitScript } from '../../webhooks/webhook-outbox.ts';
import type { BackgroundRecord } from './background-record.ts';
import {
  backgroundJournal,
  closeScript,
  openBackgroundRecords,
  type BackgroundResponsesDependencies,
} from './background-responses.ts';

const begin = backgroundJournal.createScript([new URL('lua/begin.lua', import.meta.url)]);
const noteFailure = backgroundJournal.createScript([new URL('lua/note-failure.lua', import.meta.url)]);
const charge = backgroundJournal.createScript([new URL('lua/charge.lua', import.meta.url)], ledgerScripts);
const end = backgroundJournal.createScript(
  [addEntryScript, closeScript, new URL('lua/end.lua', import.meta.url)],
  [...ledgerScripts, emitScript, ...keepStoredScripts],
);

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

/** The result of a run, with its last events. */
export interface ResponseEnd {
  state: 'completed' | 'incomplete' | 'failed';
  /** The last events. */
  entry: JournalEntry;
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
  readonly #journal: AnswerJournal;
  readonly #records: StoredRecords<BackgroundRecord>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, dependencies: BackgroundResponsesDependencies) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#dependencies = dependencies;
    this.#journal = new AnswerJournal(redis, prefix, { ...dependencies, kind: backgroundJournal });
    this.#records = openBackgroundRecords(redis, prefix, dependencies);
  }

  /** Maximum bytes of the events of one response. */
  get answerBytes(): number {
    return this.#dependencies.bounds.answerBytes;
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
    const sealed = this.#dependencies.keys.storeSealer(owner).seal(opening.events);
    const reply = await this.#journal.run(begin, { id, owner, attempt: runId }, { last: opening.last }, [sealed]);
    const next = Number(reply);
    return next === -1 ? undefined : { runId, next };
  }

  /** Writes events to the stream. */
  append({ id, owner }: BackgroundRecord, runId: string, entry: JournalEntry): Promise<AppendOutcome> {
    return this.#journal.append({ id, owner, attempt: runId }, entry);
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
    const { state, entry, final, storedResponse, ledger } = result;
    const { args: journalArgs, text } = await this.#journal.seal(owner, entry);
    const sealer = this.#dependencies.keys.storeSealer(owner);
    const texts = [
      text,
      final ? await sealer.sealBytes([Buffer.from(JSON.stringify(final))]) : '',
      ...(storedResponse ? [storedResponse.content, storedResponse.entry] : ['', '']),
      ...ledger.texts,
    ];
    const recordMs = this.#dependencies.bounds.keepMs;
    // The bounds of stored responses apply: the last events are added even if there is no room for them.
    const args = { ...journalArgs, ...storedResponse?.args, state, recordMs, ledger: ledger.args };
    const outcome = await this.#journal.run(end, { id, owner, attempt: runId }, args, texts);
    if (outcome === -1) return 'too large';
    return outcome === 1 ? 'ended' : 'over';
  }

  /**
   * Writes the use of a response before its cancellation into the ledger.
   * @returns false if the response was not cancelled during this run
   */
  async charge({ id, owner }: BackgroundRecord, runId: string, { args: ledger, texts }: LedgerEntry): Promise<boolean> {
    const args = { ledger, againMs: chargedAgainMs };
    return (await this.#journal.run(charge, { id, owner, attempt: runId }, args, texts)) === 1;
  }

  /**
   * Counts a run that ended with an error, if that error counts towards the maximum number of runs.
   * @returns how many such runs the response has had
   */
  async noteFailure({ id, owner }: BackgroundRecord): Promise<number> {
    return Number(await this.#journal.run(noteFailure, { id, owner }));
  }

  /** Removes responses that have expired, whether or not they are over. */
  sweep(): Promise<void> {
    return this.#journal.sweep();
  }
}
