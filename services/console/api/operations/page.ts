import { z } from 'zod';
import type { TimedPlace } from '#shared/store/redis/read-newest.ts';
import { ApiFailure } from '../api-failure.ts';

const maxPerPage = 1_000;

export const defaultPageSize = 100;

/** The query of every list. */
export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(maxPerPage)
    .optional()
    .describe('The maximum number of items on the page. Absent: 100.'),
  cursor: z.string().max(300).optional().describe('`next` of the previous page.'),
});

export interface Page<T> {
  data: T[];
  /** The cursor of the next page; undefined on the last one. */
  next: string | undefined;
}

/** The order of a list, defined by the cursors of its items. */
export interface Order<T> {
  cursorOf: (item: T) => string;
  /** The form of every cursor of the list. Anything else is refused. */
  form: RegExp;
}

/** The order of items with an id by the time of their creation. */
export const byCreation: Order<{ createdAt: number; id: string }> = {
  cursorOf: ({ createdAt, id }) => formatTimedCursor(createdAt, id),
  form: /^\d{16}\.\w{1,64}$/,
};

/**
 * Returns the order of items by a name that may contain anything.
 * @param kind the kind of the items, for example `worker`; each cursor begins with it
 */
export function byName<T>(kind: string, nameOf: (item: T) => string): Order<T> {
  return { cursorOf: (item) => `${kind}:${nameOf(item)}`, form: new RegExp(`^${kind}:.`, 's') };
}

/** Returns a cursor that sorts by a time in milliseconds since 1970, then by an id. */
export function formatTimedCursor(at: number, id: string): string {
  return `${String(at).padStart(16, '0')}.${id}`;
}

/** Returns the place of a cursor that `formatTimedCursor` has made; undefined without a cursor. */
export function parseTimedCursor(cursor: string | undefined): TimedPlace | undefined {
  if (cursor === undefined) return undefined;
  const dot = cursor.indexOf('.');
  return { at: Number(cursor.slice(0, dot)), member: cursor.slice(dot + 1) };
}

/**
 * Refuses a cursor that does not have the form of the order.
 * @throws ApiFailure 400
 */
export function requireCursor(cursor: string | undefined, { form }: Pick<Order<never>, 'form'>): void {
  if (cursor === undefined || form.test(cursor)) return;
  throw new ApiFailure(400, 'invalid_request', 'This is not a cursor of this list.', { field: 'cursor' });
}

/**
 * Returns the page of a list after a cursor. The item of the cursor may have been removed meanwhile. A page has the order of the cursors. A
 * limit of Infinity returns all items in the order of `items`.
 * @throws ApiFailure 400 for an invalid cursor
 */
export function cutPage<T>(
  items: readonly T[],
  { limit, cursor }: { limit: number; cursor: string | undefined },
  order: Order<T>,
): Page<T> {
  requireCursor(cursor, order);
  if (limit === Infinity) return { data: [...items], next: undefined };
  const rest = items
    .map((item) => ({ item, place: order.cursorOf(item) }))
    .filter(({ place }) => cursor === undefined || place > cursor)
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  const next = rest.length > limit ? rest[limit - 1]?.place : undefined;
  return { data: rest.slice(0, limit).map(({ item }) => item), next };
}
