import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { AnswerJournal, JournalKind, type JournalPage } from '#shared/store/answer-journal/answer-journal.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { toStoredFields } from '#shared/store/redis/stored-value.ts';
import type { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { emitScript } from '../../webhooks/webhook-outbox.ts';
import { backgroundRecordSchema, type BackgroundRecord, type NewBackgroundRecord } from './background-record.ts';
import type { BackgroundBounds } from './background-settings.ts';

export const backgroundJournal = new JournalKind('background', new URL('lua/background.lua', import.meta.url));
export const closeScript = new URL('lua/close.lua', import.meta.url);
const create = backgroundJournal.createScript([new URL('lua/create.lua', import.meta.url)]);
const cancel = backgroundJournal.createScript([closeScript, new URL('lua/cancel.lua', import.meta.url)], [emitScript]);
const remove = backgroundJournal.createScript([new URL('lua/remove.lua', import.meta.url)]);

/** The form of the ids that this router makes. Any other id counts as unknown. */
const idPattern = /^[\w-]{1,80}$/;

/** Milliseconds after the removal of a cancelled response during which its use can still be counted. */
const chargedMs = 3_600_000;

export interface BackgroundTexts {
  /** What a run needs to make the response. */
  request: object;
  /** The response object before the first run. */
  queued: JsonObject;
  /** The first events of the stream. */
  events: string;
  /** Number of the last of these events. */
  last: number;
}

export interface EventPage extends Pick<JournalPage, 'next' | 'isLost' | 'entries'> {
  /** Whether the response has ended, so that no events from `next` on will follow. */
  isOver: boolean;
  isCancelled: boolean;
  /** Number of the first event after the opening. The opening consists of the first events, which all runs share. */
  opening: number;
  /** Number of the first event that the last run writes. */
  begun: number;
}

export interface BackgroundResponsesDependencies {
  bounds: BackgroundBounds;
  keys: Pick<OwnerKeys, 'storeSealer'>;
  report: ReportUnreadable;
}

/** @param prefix start of all names in Redis */
export function openBackgroundRecords(
  redis: Redis,
  prefix: string,
  { report }: Pick<BackgroundResponsesDependencies, 'report'>,
): StoredRecords<BackgroundRecord> {
  const nameOf = (id: string): string => `${prefix}background-response:${id}`;
  return new StoredRecords(redis, { kind: 'background response', nameOf, schema: backgroundRecordSchema, report });
}

/**
 * Background responses as their owners see them. Requests and answers are sealed with a key of the owner. A response of another owner
 * counts as unknown. Every method throws RouterError `store_unavailable` when Redis does not answer.
 */
export class BackgroundResponses {
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

  /** Milliseconds from the creation of a response until it fails if it is still unfinished. */
  get openMs(): number {
    return this.#dependencies.bounds.openMs;
  }

  /**
   * Stores a new response.
   * @returns how many unfinished responses the owner has, including the new response
   * @throws RouterError `rate_limit_exceeded` if the owner has too many unfinished responses, or there is no room for the request now;
   * `body_too_large` if the request is larger than the room that one owner may ever have
   */
  async create(record: NewBackgroundRecord, texts: BackgroundTexts): Promise<number> {
    const { id, owner, createdAt } = record;
    const { maxOpen, openMs, keepMs, ownerBytes, totalBytes } = this.#dependencies.bounds;
    const sealer = this.#dependencies.keys.storeSealer(owner);
    const sealed = await Promise.all([
      sealer.sealBytes([Buffer.from(JSON.stringify(texts.request))]),
      sealer.sealBytes([Buffer.from(JSON.stringify(texts.queued))]),
      sealer.sealBytes([Buffer.from(texts.events)]),
    ]);
    if (sealed.reduce((sum, { length }) => sum + length, 0) > Math.min(ownerBytes, totalBytes / 2))
      throw new RouterError('body_too_large', 'The request is too large to be served in the background.');
    const bounds = { maxOpen, ownerBytes, totalBytes, keepMs: openMs + keepMs };
    const args = { createdAt, fields: toStoredFields(record), last: texts.last, ...bounds };
    const outcome = Number(await this.#journal.run(create, { id, owner }, args, sealed));
    if (outcome > 0) return outcome;
    const message =
      outcome === 0
        ? `There are ${maxOpen} responses in the background that are not over, and there may not be more.`
        : 'There is no room for another of your responses in the background until some are over.';
    throw new RouterError('rate_limit_exceeded', message, { retryAfter: 10 });
  }

  async find(owner: string, id: string): Promise<BackgroundRecord | undefined> {
    if (!idPattern.test(id)) return undefined;
    const record = await this.#records.find(id);
    return record?.owner === owner && record.deletedAt === undefined ? record : undefined;
  }

  /**
   * Returns the response object: until the response is over, the object before the first run; then the final object.
   * @returns undefined if the final object is among the stored responses, or cannot be opened
   */
  async readObject({ id, owner }: BackgroundRecord): Promise<JsonObject | undefined> {
    const [final, queued] = await callRedis(this.#redis.hmget(this.#toTextsName(id), 'final', 'queued'));
    return this.#unsealJson(owner, id, final ?? queued);
  }

  /** Returns what a run needs to make a response; undefined once the response is over. */
  async readRequest({ id, owner }: BackgroundRecord): Promise<JsonObject | undefined> {
    return this.#unsealJson(owner, id, await callRedis(this.#redis.hget(this.#toTextsName(id), 'request')));
  }

  countAllOpen(): Promise<number> {
    return callRedis(this.#redis.zcard(`${this.#prefix}background-open`));
  }

  /** Reads the events of a response's stream that follow event `after`; undefined if the owner has no such response. */
  async read(owner: string, id: string, after: number): Promise<EventPage | undefined> {
    if (!idPattern.test(id)) return undefined;
    const fields = ['state', 'deletedAt', 'opening', 'begun'];
    const page = await this.#journal.read({ id, owner }, { match: { owner }, fields, after });
    const [state, deletedAt, opening, begun] = page?.fields ?? [];
    if (!page || typeof deletedAt === 'string') return undefined;
    const isOver = state !== 'queued' && state !== 'in_progress';
    const { next, isLost, entries } = page;
    const isCancelled = state === 'cancelled';
    return { isOver, isCancelled, opening: Number(opening), begun: Number(begun), next, isLost, entries };
  }

  /**
   * Cancels a response and emits the event for its owner's webhooks. A response that is over stays as it is.
   * @param object the final response object
   * @param isRemoved whether to remove the response at once
   * @returns whether the response was unfinished
   */
  async cancel({ id, owner }: BackgroundRecord, object: JsonObject, isRemoved = false): Promise<boolean> {
    const sealed = await this.#dependencies.keys.storeSealer(owner).sealBytes([Buffer.from(JSON.stringify(object))]);
    const args = { recordMs: this.#dependencies.bounds.keepMs, ...(isRemoved && { chargedMs }) };
    return (await this.#journal.run(cancel, { id, owner }, args, [sealed])) === 1;
  }

  /**
   * Removes a response that is over.
   * @returns whether the owner had such a response
   */
  async delete(owner: string, id: string): Promise<boolean> {
    if (!idPattern.test(id)) return false;
    return (await this.#journal.run(remove, { id, owner }, { chargedMs })) === 1;
  }

  #toTextsName(id: string): string {
    return `${this.#prefix}background-texts:${id}`;
  }

  #unsealJson(owner: string, id: string, sealed: string | null | undefined): JsonObject | undefined {
    if (sealed === undefined || sealed === null) return undefined;
    const text = this.#dependencies.keys.storeSealer(owner).unseal(sealed);
    if (text === undefined)
      this.#dependencies.report(`background response ${id}`, 'it is sealed with a secret that is not set');
    return text === undefined ? undefined : (JSON.parse(text) as JsonObject);
  }
}
