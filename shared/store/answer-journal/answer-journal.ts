import type { Redis } from 'ioredis';
import { createStoreUnavailableError } from '../redis/call-redis.ts';
import { eachAfterScript, RedisScript, scriptStart } from '../redis/redis-script.ts';
import type { StoredBounds } from '../stored-bounds.ts';
import type { OwnerKeys } from '../secrets/owner-keys.ts';
import type { AppendOutcome, JournalEntry } from './journal-writer.ts';

const journalScripts = [scriptStart, new URL('lua/journal.lua', import.meta.url)];
const readEntries = new RedisScript(...journalScripts, eachAfterScript, new URL('lua/read.lua', import.meta.url));
const sweepExpired = new RedisScript(...journalScripts, new URL('lua/sweep.lua', import.meta.url));
const removeOwner = new RedisScript(...journalScripts, new URL('lua/remove-owner.lua', import.meta.url));
export const addEntryScript = new URL('lua/add-entry.lua', import.meta.url);

/** Maximum number of entries in one read. */
const maxEntriesPerRead = 50;
/** Bytes after which a read ends. */
const maxBytesPerRead = 256 * 1024;

/** Maximum number of answers that one call of a script removes. Such a call takes some milliseconds. */
const maxRemovedAtOnce = 200;

/** A kind of answers with journals. */
export class JournalKind {
  readonly name: 'background' | 'idempotent';
  readonly append: RedisScript;
  readonly #rules: URL;

  /** @param rules the script that defines `makeRoom(bytes)` */
  constructor(name: JournalKind['name'], rules: URL) {
    this.name = name;
    this.#rules = rules;
    this.append = this.createScript([addEntryScript, new URL('lua/append.lua', import.meta.url)]);
  }

  /**
   * Creates a script that uses the functions of journals and of this kind.
   * @param libraries scripts that define further functions
   */
  createScript(files: readonly URL[], libraries: readonly URL[] = []): RedisScript {
    return new RedisScript(...libraries, ...journalScripts, this.#rules, ...files);
  }

  /**
   * Removes all answers of an owner that no longer exists: a deleted person or team, or a revoked key. Executions of idempotent answers go
   * on for their clients. Responses in the background stop, and their use is not counted.
   * @param prefix start of all names in Redis
   * @throws RouterError `store_unavailable`
   */
  async removeOwner(redis: Redis, prefix: string, owner: string): Promise<void> {
    const args = { prefix, kind: this.name, owner, id: '', max: maxRemovedAtOnce };
    let left = 1;
    while (left > 0) left = Number(await removeOwner.run(redis, { args }));
  }
}

export interface JournalBounds extends StoredBounds {
  /** Maximum bytes of the sealed events of one answer. If an answer has more, none of its events are kept. */
  answerBytes: number;
}

export interface AnswerReference {
  owner: string;
  id: string;
}

/** The execution that may write an answer. */
export interface ExecutionRef extends AnswerReference {
  attempt: string;
}

/** A part of an answer. */
export interface JournalPage {
  /** Fields of the record, in the order in which they were asked for; null for an absent field. */
  fields: (string | null)[];
  /** The time of Redis, in ms since 1970. */
  now: number;
  /** Number of the event that will follow the stored ones. */
  next: number;
  /** Whether the events of the answer are not kept, because there was no room for them. */
  isLost: boolean;
  /** The entries that were read; more may follow. The first entry may also contain events before the requested ones. */
  entries: { last: number; bytes: Buffer }[];
}

export interface ReadRequest {
  /** Fields that the record must have. */
  match: Readonly<Record<string, string>>;
  /** Names of the fields to read. */
  fields: readonly string[];
  /** Number of the event that the requested events follow; -1 for all events. */
  after: number;
  /** Registers a follower as waiting for more of the answer, for a number of milliseconds. */
  follower?: { follower: string; followerMs: number; attempt: string };
}

/**
 * The events of the answers of one kind, while they are made and afterwards. They are sealed with a key of the owner. Every method throws
 * RouterError `store_unavailable` when Redis does not answer.
 */
export class AnswerJournal {
  readonly #bounds: JournalBounds;
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #kind: JournalKind;
  readonly #keys: Pick<OwnerKeys, 'storeSealer'>;

  /** @param prefix start of all names in Redis */
  constructor(
    redis: Redis,
    prefix: string,
    { kind, bounds, keys }: { kind: JournalKind; bounds: JournalBounds; keys: Pick<OwnerKeys, 'storeSealer'> },
  ) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#kind = kind;
    this.#bounds = bounds;
    this.#keys = keys;
  }

  /** Runs a script of the kind on an answer. */
  run(
    script: RedisScript,
    reference: Partial<ExecutionRef> & AnswerReference,
    args: Readonly<Record<string, unknown>> = {},
    texts: readonly string[] = [],
  ): Promise<unknown> {
    const { owner, id, attempt } = reference;
    const { name: kind } = this.#kind;
    return script.run(this.#redis, { args: { ...args, prefix: this.#prefix, kind, owner, id, attempt }, texts });
  }

  /** Adds an entry to an answer. */
  async append(execution: ExecutionRef, entry: JournalEntry): Promise<AppendOutcome> {
    const { args, text } = await this.seal(execution.owner, entry);
    const outcome = await this.run(this.#kind.append, execution, args, [text]);
    return outcome === 1 ? 'kept' : outcome === -1 ? 'lost' : 'superseded';
  }

  /** Returns the arguments and the first text of a script that adds an entry. */
  async seal(owner: string, { from, last, bytes, fields }: JournalEntry) {
    const sealer = this.#keys.storeSealer(owner);
    const sealedFields = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, sealer.seal(JSON.stringify(value))] as const],
    );
    const text = bytes === undefined ? '' : await sealer.sealBytes([bytes]);
    return { args: { from, last, fields: Object.fromEntries(sealedFields), ...this.#bounds }, text };
  }

  /** Reads the part of an answer after an event; undefined if there is no such answer. */
  async read(
    reference: AnswerReference,
    { match, fields, after, follower }: ReadRequest,
  ): Promise<JournalPage | undefined> {
    const bounds = { maxEntries: maxEntriesPerRead, maxBytes: maxBytesPerRead };
    const reply = await this.run(
      readEntries,
      { ...reference, ...follower },
      { match, fields, after, ...follower, ...bounds },
    );
    const [now, next, isLost, read, ...entries] = reply as [string, number, number, (string | null)[], ...unknown[]];
    if (now === undefined) return undefined;
    // The sealer is derived once for all entries, because deriving it takes as long as opening a sealed text.
    const { unsealBytes } = this.#keys.storeSealer(reference.owner);
    return {
      fields: read,
      now: Number(now),
      next,
      isLost: isLost === 1,
      entries: entries.flatMap((last, at) =>
        at % 2 === 0 ? [{ last: Number(last), bytes: unsealBytes(String(entries[at + 1])) ?? throwUnreadable() }] : [],
      ),
    };
  }

  /** Reads a sealed field of a record; undefined if the field is absent. */
  unsealField(owner: string, sealed: string | null | undefined): unknown {
    if (sealed === undefined || sealed === null) return undefined;
    return JSON.parse(this.#keys.storeSealer(owner).unseal(sealed) ?? throwUnreadable());
  }

  /** Removes answers that have expired, whether or not they are over. */
  async sweep(): Promise<void> {
    let left = 1;
    while (left > 0) left = Number(await this.run(sweepExpired, { owner: '', id: '' }));
  }
}

function throwUnreadable(): never {
  throw createStoreUnavailableError('an answer is sealed with a secret that is not set');
}
