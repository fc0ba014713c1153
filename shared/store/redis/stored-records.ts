import { LRUCache } from 'lru-cache';
import type { Redis } from 'ioredis';
import type { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { readHash } from './call-redis.ts';
import { mapInPages } from './map-in-pages.ts';

/** Minimum milliseconds between two log entries about the same record. */
const reportAgainMs = 600_000;

/** Maximum of records that are logged within `reportAgainMs`. One faulty release may have written many records that cannot be read. */
const maxReported = 100;

/** Reports an unreadable record, such as `key 0123456789ab`. The reason has names of fields, but no content of the record. */
export type ReportUnreadable = (record: string, reason: string) => void;

/** Writes a warning about an unreadable record to standard error. For programs without a log. */
export const warnUnreadable: ReportUnreadable = (record, reason) => {
  process.emitWarning(`The stored record of ${record} cannot be read by this release, and is left out (${reason}).`);
};

/** Returns a function that logs unreadable records: each at most once in ten minutes, and at most a hundred in that time. */
export function logUnreadable(log: Pick<Logger, 'error'>): ReportUnreadable {
  const reported = new LRUCache<string, true>({ max: maxReported, ttl: reportAgainMs });
  return (record, reason) => {
    reported.purgeStale();
    if (reported.has(record) || reported.size >= maxReported) return;
    reported.set(record, true);
    log.error({ record, reason }, 'a stored record cannot be read by this release, and is left out');
  };
}

/**
 * Thrown for a record that exists, but that this release cannot read. During an upgrade, nodes of another release may be able to read it.
 * So a client may try again.
 */
export class UnreadableRecordError extends RouterError {
  override name = 'UnreadableRecordError';

  /** @param record such as `key 0123456789ab` */
  constructor(record: string, reason: string) {
    const message = `The stored record of ${record} cannot be read by this node. Please try again soon.`;
    super('store_unavailable', message, { retryAfter: 2, cause: new Error(reason) });
  }
}

/**
 * Returns whether a read failed because the store is unavailable. A record that this release cannot read is no outage: it may say that a
 * key was revoked.
 */
export function isOutage(error: unknown): boolean {
  return (
    error instanceof RouterError && error.code === 'store_unavailable' && !(error instanceof UnreadableRecordError)
  );
}

export interface RecordKind<T> {
  /** The word before the id in reports, such as `key`. */
  kind: string;
  nameOf: (id: string) => string;
  /** Reads the fields of a record. The schema must ignore fields that it does not define. */
  schema: z.ZodType<T>;
  report: ReportUnreadable;
}

/** Reads the records of one kind. A record that cannot be read is reported. */
export class StoredRecords<T> {
  readonly #redis: Redis;
  readonly #recordKind: RecordKind<T>;

  constructor(redis: Redis, recordKind: RecordKind<T>) {
    this.#redis = redis;
    this.#recordKind = recordKind;
  }

  /**
   * Returns a record; undefined if there is none with this id.
   * @throws UnreadableRecordError for a record that cannot be read; RouterError `store_unavailable` when Redis does not answer in time
   */
  async find(id: string): Promise<T | undefined> {
    const fields = await readHash(this.#redis, this.#recordKind.nameOf(id));
    return fields && Object.keys(fields).length === 0 ? undefined : this.parse(id, fields);
  }

  /**
   * Parses the fields of the record with this id.
   * @param fields undefined if the record is no hash
   * @throws UnreadableRecordError
   */
  parse(id: string, fields: Record<string, string> | undefined): T {
    const { kind, schema, report } = this.#recordKind;
    const read = readStored(schema, fields);
    if ('value' in read) return read.value;
    report(`${kind} ${id}`, read.reason);
    throw new UnreadableRecordError(`${kind} ${id}`, read.reason);
  }

  /**
   * Returns the records with these ids that exist and can be read.
   * @throws RouterError `store_unavailable`
   */
  async findAll(ids: readonly string[]): Promise<T[]> {
    const found = await mapInPages(ids, (id) => skipUnreadable(this.find(id)));
    return found.filter((record) => record !== undefined);
  }
}

/** Returns the result of a search for a record. Returns undefined if the record cannot be read. */
export async function skipUnreadable<T>(search: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await search;
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}

/** Reads a stored value. If it does not match the schema, returns the names of the wrong fields, without their values. */
export function readStored<T>(schema: z.ZodType<T>, stored: unknown): { value: T } | { reason: string } {
  const { success, data, error } = schema.safeParse(stored);
  if (success) return { value: data };
  return { reason: error.issues.map(({ path, code }) => [...path.map(String), code].join(': ')).join(', ') };
}
