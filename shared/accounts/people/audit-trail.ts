import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { skipUnreadable, StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import { chooseQuota } from './audit-quota.ts';
import { shortenDetails } from './shorten-details.ts';
import type { UserRole } from './user.ts';

const addEntry = new RedisScript(new URL('lua/add-audit-entry.lua', import.meta.url));

/**
 * Milliseconds after the first change in a member's entry during which further changes of the same fields of the same thing are merged into
 * this entry.
 */
const mergeMs = 600_000;

/** Maximum number of changes in one entry. */
const maxMerged = 20;
/** Maximum bytes of the changes between the first and the last change of an entry. */
const maxBetween = 16_384;

/** Maximum number of entries that one call of Redis reads. */
const readAtOnce = 200;
/** Maximum number of entries that are read for one page, even if few of them match the filter. */
const maxRead = 10_000;

/** Maximum characters of an entry's details. See `shortenDetails`. */
const maxDetails = 4_096;

const detailsSchema = z.record(z.string(), z.unknown());
const targetSchema = z.object({ kind: z.string(), id: z.string(), name: z.string() });
const originSchema = z.object({
  address: z.string().optional(),
  session: z.string().optional(),
  commandLine: z.string().optional(),
  token: z.object({ id: z.string(), name: z.string() }).optional(),
});
const noteSchema = z.object({
  actor: z.object({ id: z.string(), name: z.string() }).nullable(),
  action: z.string(),
  target: targetSchema.nullable(),
  details: detailsSchema,
  // An entry of another release stays readable even if the form of its origin differs.
  from: originSchema.optional().catch(undefined),
});
const entrySchema = z.object({
  note: createStoredSchema(noteSchema),
  first: createStoredSchema(noteSchema).optional(),
  // Each line is the JSON of one note.
  between: z
    .string()
    .transform((lines) => lines.split('\n'))
    .pipe(z.array(createStoredSchema(noteSchema)))
    .optional(),
  at: z.coerce.number(),
  since: z.coerce.number(),
  count: z.coerce.number(),
});

export interface AuditNote {
  /** Who made the change; null for the command line, and for somebody who is not signed in. */
  actor: { id: string; name: string; role: UserRole } | null;
  /** What was done, such as `key.create` or `user.block`. */
  action: string;
  target: z.output<typeof targetSchema> | null;
  /** Old and new values, never a secret. */
  details: z.output<typeof detailsSchema>;
  /** Whether the changed thing, such as a key, belongs to a team. This determines the quota, and is not stored. */
  ofTeam?: boolean | undefined;
  /** Where the change came from; absent if unknown. */
  from?: AuditOrigin | undefined;
}

/**
 * The origin of a change. A change from the network has an address, and either an admin token or the name of a sign-in session, as in the
 * list of sessions. Any other change has a command line.
 */
export interface AuditOrigin {
  address?: string | undefined;
  session?: string | undefined;
  /** The account of the operating system, such as `ada@workstation`; with a token, the account that made the token. */
  commandLine?: string | undefined;
  token?: { id: string; name: string } | undefined;
}

/**
 * One change, or several changes of the same fields of the same thing, from the same origin. For several changes, `count` is the number of
 * changes since the time `since`. The details then have the values before the first change and after the last change; `between` has the
 * values after each of the other changes. Times are in ms since 1970. The ids of later entries are larger.
 */
export type AuditEntry = z.output<typeof noteSchema> & { id: string; at: number; count?: number; since?: number };

/** A filter of entries. An absent field filters nothing. */
export interface AuditFilter {
  /** Id of the person or of the admin token that made the change. The id of a token may have `token:` before it. */
  actor?: string | undefined;
  /** An action, or a group of actions such as `key.*`. */
  action?: string | undefined;
  target?: string | undefined;
  /** Only changes at this time or later, in ms since 1970. */
  from?: number | undefined;
  /** Only changes at this time or earlier, in ms since 1970. */
  to?: number | undefined;
}

export interface AuditPage {
  entries: AuditEntry[];
  /** The cursor of the next page, with older entries; undefined at the end of the trail. A page without entries may have a cursor. */
  next: string | undefined;
}

export interface AuditTrailOptions {
  /** Returns the milliseconds for which an entry is kept. */
  keptMs: () => Promise<number>;
  report: ReportUnreadable;
}

/**
 * The audit trail: who changed what. Administrators set how long entries are kept. Quotas (see `chooseQuota`) bound the number of entries,
 * so that nobody can displace the entries of others. Repeated changes by a member are merged. Every method throws `store_unavailable` while
 * Redis is unavailable.
 */
export class AuditTrail {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #entries: StoredRecords<z.output<typeof entrySchema>>;
  readonly #keptMs: AuditTrailOptions['keptMs'];

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, { keptMs, report }: AuditTrailOptions) {
    const names = accountNames(prefix);
    this.#redis = redis;
    this.#keptMs = keptMs;
    this.#names = names;
    this.#entries = new StoredRecords(redis, {
      kind: 'audit entry',
      schema: entrySchema,
      nameOf: names.auditEntry,
      report,
    });
  }

  async add({ ofTeam, ...note }: AuditNote): Promise<void> {
    const { auditIndex, auditQuota, auditLatest, auditEntry } = this.#names;
    const quota = chooseQuota({ ...note, ofTeam });
    await addEntry.run(this.#redis, {
      keys: [auditIndex, auditQuota(quota.name), auditLatest(hashAction(quota.name, note))],
      args: {
        entryPrefix: auditEntry(''),
        note: JSON.stringify({ ...note, details: shortenDetails(note.details, maxDetails) }),
        maxEntries: quota.maxEntries,
        keptMs: await this.#keptMs(),
        maxMerged,
        maxBetween,
        mergeMs: quota.merges ? mergeMs : undefined,
      },
    });
  }

  /**
   * Returns entries that match a filter, newest first.
   * @param cursor id of an entry: returns only entries that are older than this entry
   */
  async list(filter: AuditFilter = {}, limit = 100, cursor?: string): Promise<AuditPage> {
    const entries: AuditEntry[] = [];
    const oldest = Math.max(filter.from ?? 0, Date.now() - (await this.#keptMs())) * 1_000;
    let start = cursor === undefined ? toNewestId(filter.to) : `(${cursor}`;
    for (let read = 0; read < maxRead; read += readAtOnce) {
      const range = [this.#names.auditIndex, start, String(oldest), 'BYSCORE', 'REV', 'LIMIT', 0, readAtOnce] as const;
      const ids = await callRedis(this.#redis.zrange(...range));
      const stored = await Promise.all(ids.map((id) => skipUnreadable(this.#find(id))));
      for (const [index, entry] of stored.entries()) {
        if (!entry || !matchesFilter(entry, filter)) continue;
        entries.push(entry);
        if (entries.length < limit) continue;
        const isLast = index === stored.length - 1 && ids.length < readAtOnce;
        return { entries, next: isLast ? undefined : entry.id };
      }
      const last = ids.at(-1);
      if (last === undefined || ids.length < readAtOnce) return { entries, next: undefined };
      start = `(${last}`;
    }
    return { entries, next: start.slice(1) };
  }

  async #find(id: string): Promise<AuditEntry | undefined> {
    const stored = await this.#entries.find(id);
    if (!stored) return undefined;
    const { note, first, between = [], at, since, count } = stored;
    if (!first) return { ...note, id, at };
    const start = 'before' in first.details ? { before: first.details['before'] } : {};
    const others = [first, ...between].flatMap(({ details }) =>
      'after' in details ? [details['after']] : 'tooLong' in details ? [details] : [],
    );
    const middle = others.length === 0 ? {} : { between: others };
    return { ...note, details: { ...note.details, ...start, ...middle }, id, at, count, since };
  }
}

/** Returns the largest id that an entry at the time `to` can have; `+inf` without a time. */
function toNewestId(to: number | undefined): string {
  return to === undefined ? '+inf' : String((to + 1) * 1_000 - 1);
}

function matchesFilter(entry: AuditEntry, { actor, action, target: changedThing, to }: AuditFilter): boolean {
  if (actor !== undefined && !isMadeBy(entry, actor)) return false;
  if (changedThing !== undefined && entry.target?.id !== changedThing) return false;
  if (to !== undefined && entry.at > to) return false;
  if (action === undefined) return true;
  return action.endsWith('.*') ? entry.action.startsWith(action.slice(0, -1)) : entry.action === action;
}

function isMadeBy({ actor, from }: AuditEntry, id: string): boolean {
  return actor?.id === id || from?.token?.id === id.replace(/^token:/, '');
}

/** Returns a hash that is the same for all changes of the same fields of the same thing from the same origin. */
function hashAction(
  quota: string,
  { action, target: changedThing, from, details: { before, after, ...others } }: AuditNote,
): string {
  const fields = typeof after === 'object' && after !== null ? Object.keys(after).sort() : typeof before;
  return hash(
    'sha256',
    JSON.stringify([quota, action, changedThing?.kind, changedThing?.id, from, others, fields]),
    'base64url',
  );
}
