import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { askRedis, storeUnavailable } from '../redis/ask-redis.ts';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';
import { StoredRecords, type ReportUnreadable } from '../redis/stored-records.ts';
import { storedFields } from '../redis/stored-value.ts';
import type { OwnerKeys } from '../secrets/owner-keys.ts';
import { emitScript } from '../webhooks/webhook-outbox.ts';
import { backgroundRecordSchema, type BackgroundRecord, type NewBackgroundRecord } from './background-record.ts';
import type { BackgroundBounds } from './background-settings.ts';

const common = [scriptStart, new URL('lua/background.lua', import.meta.url)];
const close = new URL('lua/close.lua', import.meta.url);
const create = new RedisScript(...common, new URL('lua/create.lua', import.meta.url));
const readEvents = new RedisScript(...common, new URL('lua/read-events.lua', import.meta.url));
const cancel = new RedisScript(emitScript, ...common, close, new URL('lua/cancel.lua', import.meta.url));
const remove = new RedisScript(...common, new URL('lua/remove.lua', import.meta.url));

/** An id as this router makes them. Any other is unknown. */
const idPattern = /^[\w-]{1,80}$/;

/** Entries of a stream that are read at once at most, and bytes after which no more are. */
const entriesAtOnce = 50;
const bytesAtOnce = 256 * 1024;

/** Milliseconds for which the use of a response that was cancelled and removed can be counted. */
const chargedMs = 3_600_000;

/** The texts of a response that is to be made. */
export interface BackgroundTexts {
  /** What is needed to make it. */
  request: object;
  /** Its object before anything is done for it. */
  queued: JsonObject;
  /** The first events of its stream, and the number of the last of them. */
  events: string;
  last: number;
}

/** What is read of a stream at once. */
export interface ReadEvents {
  /** Whether there will be no more than those up to `next`. */
  isOver: boolean;
  /** Whether it was cancelled. */
  isCancelled: boolean;
  /** Number of the first event behind those that all attempts have in common. */
  opening: number;
  /** Number of the first event of the last attempt. */
  begun: number;
  /** Number of the next event. */
  next: number;
  /** Whether there were too many events, so that they are not kept. */
  areGone: boolean;
  /** The events that were read; more may follow. The first ones may be older than was asked for. */
  events: string[];
}

export interface BackgroundResponsesParts {
  bounds: BackgroundBounds;
  keys: Pick<OwnerKeys, 'storeSealer'>;
  report: ReportUnreadable;
}

/**
 * Responses that are made in the background, as their owners see them. What clients have sent and what they get is sealed with a key of
 * the owner. Nobody finds those of others: an id of another owner is an unknown one. Every method throws RouterError
 * `store_unavailable` when Redis does not answer.
 */
export class BackgroundResponses {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #parts: BackgroundResponsesParts;
  readonly #records: StoredRecords<BackgroundRecord>;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string, parts: BackgroundResponsesParts) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#parts = parts;
    const nameOf = (id: string): string => `${prefix}background-response:${id}`;
    const { report } = parts;
    const kind = 'background response';
    this.#records = new StoredRecords(redis, { kind, nameOf, schema: backgroundRecordSchema, report });
  }

  /** Milliseconds after which one that is not over fails. */
  get openMs(): number {
    return this.#parts.bounds.openMs;
  }

  /**
   * Stores a response that is to be made.
   * @returns how many of its owner are not over then
   * @throws RouterError `rate_limit_exceeded` if its owner has too many that are not over, or there is no room for its request now;
   * `body_too_large` if there never is
   */
  async create(record: NewBackgroundRecord, texts: BackgroundTexts): Promise<number> {
    const { id, owner, createdAt } = record;
    const { mostOpen, openMs, keepMs, ownerBytes, totalBytes } = this.#parts.bounds;
    const sealer = this.#sealer(owner);
    const sealed = await Promise.all([
      sealer.sealBytes([Buffer.from(JSON.stringify(texts.request))]),
      sealer.sealBytes([Buffer.from(JSON.stringify(texts.queued))]),
      sealer.sealBytes([Buffer.from(texts.events)]),
    ]);
    if (sealed.reduce((sum, { length }) => sum + length, 0) > Math.min(ownerBytes, totalBytes))
      throw new RouterError('body_too_large', 'The request is too large to be served in the background.');
    const args = {
      prefix: this.#prefix,
      id,
      owner,
      createdAt,
      fields: storedFields(record),
      last: texts.last,
      mostOpen,
      ownerBytes,
      totalBytes,
      keepMs: openMs + keepMs,
    };
    const outcome = Number(await create.run(this.#redis, { args, texts: sealed }));
    if (outcome > 0) return outcome;
    const message =
      outcome === 0
        ? `There are ${mostOpen} responses in the background that are not over, and there may not be more.`
        : 'There is no room for another response in the background until others are over.';
    throw new RouterError('rate_limit_exceeded', message, { retryAfter: 10 });
  }

  /** One response; undefined if the owner has none with this id. */
  async find(owner: string, id: string): Promise<BackgroundRecord | undefined> {
    if (!idPattern.test(id)) return undefined;
    const found = await this.#records.find(id);
    return found?.owner === owner && found.deletedAt === undefined ? found : undefined;
  }

  /** The object of a response as it was when it was asked for, or as it is once it is over; undefined if it is stored elsewhere. */
  async objectOf({ id, owner }: BackgroundRecord): Promise<JsonObject | undefined> {
    const [final, queued] = await askRedis(this.#redis.hmget(this.#textsOf(id), 'final', 'queued'));
    return this.#opened(owner, final ?? queued);
  }

  /** What is needed to make a response; undefined once it is over. */
  async requestOf({ id, owner }: BackgroundRecord): Promise<JsonObject | undefined> {
    return this.#opened(owner, await askRedis(this.#redis.hget(this.#textsOf(id), 'request')));
  }

  /** How many responses of all owners are not over. */
  countAllOpen(): Promise<number> {
    return askRedis(this.#redis.zcard(`${this.#prefix}background-open`));
  }

  /** Reads events of a response's stream that follow an event; undefined if the owner has no such response. */
  async read(owner: string, id: string, after: number): Promise<ReadEvents | undefined> {
    if (!idPattern.test(id)) return undefined;
    const args = { prefix: this.#prefix, id, owner, after, most: entriesAtOnce, mostBytes: bytesAtOnce };
    const reply = await readEvents.run(this.#redis, { args });
    const [state, opening, begun, next, areGone, ...sealed] = Array.isArray(reply) ? (reply as unknown[]) : [];
    if (typeof state !== 'string') return undefined;
    const { unseal } = this.#sealer(owner);
    const events = sealed.map((text) => unseal(String(text)) ?? unreadable(id));
    const isCancelled = state === 'cancelled';
    const known = { isOver: state !== 'queued' && state !== 'in_progress', isCancelled, areGone: areGone === 1 };
    return { ...known, opening: Number(opening), begun: Number(begun), next: Number(next), events };
  }

  /**
   * Cancels a response, which is sent to the webhooks of its owner. One that is over stays as it is.
   * @param object as it is shown from then on
   * @param isRemoved whether it is forgotten at once
   * @returns whether it was not over
   */
  async cancel({ id, owner }: BackgroundRecord, object: JsonObject, isRemoved = false): Promise<boolean> {
    const sealed = await this.#sealer(owner).sealBytes([Buffer.from(JSON.stringify(object))]);
    const args = { prefix: this.#prefix, id, recordMs: this.#parts.bounds.keepMs, ...(isRemoved && { chargedMs }) };
    return (await cancel.run(this.#redis, { args, texts: [sealed] })) === 1;
  }

  /** Forgets a response that is over. @returns whether the owner had it */
  async remove(owner: string, id: string): Promise<boolean> {
    if (!idPattern.test(id)) return false;
    return (await remove.run(this.#redis, { args: { prefix: this.#prefix, id, owner, chargedMs } })) === 1;
  }

  #textsOf(id: string): string {
    return `${this.#prefix}background-texts:${id}`;
  }

  #opened(owner: string, sealed: string | null | undefined): JsonObject | undefined {
    if (sealed === undefined || sealed === null) return undefined;
    const text = this.#sealer(owner).unseal(sealed);
    if (text === undefined) this.#parts.report('a background response', 'it is sealed with a secret that is not set');
    return text === undefined ? undefined : (JSON.parse(text) as JsonObject);
  }

  #sealer(owner: string): Sealer {
    const sealer = this.#parts.keys.storeSealer(owner);
    if (!sealer) throw storeUnavailable('the secret of the cluster is not known yet');
    return sealer;
  }
}

function unreadable(id: string): never {
  throw storeUnavailable(`the events of ${id} are sealed with a secret that is not set`);
}
