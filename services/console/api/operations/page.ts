import { z } from 'zod';
import { ApiFailure } from '../api-failure.ts';

/** The largest page of a list. */
const mostPerPage = 1_000;

/** Things of a page, where the request does not say how many. */
export const defaultPageSize = 100;

/** What every list is asked for with. */
export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(mostPerPage)
    .optional()
    .describe('Things on the page at most; 100 where absent.'),
  cursor: z.string().max(300).optional().describe('`next` of the page before.'),
});

/** A page of a list. */
export interface Page<T> {
  data: T[];
  /** The cursor of the page after it; undefined on the last one. */
  next: string | undefined;
}

/** The order of a list: that of the cursors of what it has. */
export interface Order<T> {
  cursorOf: (each: T) => string;
  /** What every cursor of the list is, and nothing else that could be sent for one. */
  form: RegExp;
}

/** The order of things with an id by when they were created. */
export const byCreation: Order<{ createdAt: number; id: string }> = {
  cursorOf: ({ createdAt, id }) => timedCursor(createdAt, id),
  form: /^\d{16}\.\w{1,64}$/,
};

/** The order of things by a name that may be anything. @param kind what they are, by which a cursor is known, as `worker` */
export function byName<T>(kind: string, nameOf: (each: T) => string): Order<T> {
  return { cursorOf: (each) => `${kind}:${nameOf(each)}`, form: new RegExp(`^${kind}:.`, 's') };
}

/** A cursor by a time in milliseconds since 1970, and by an id. */
export function timedCursor(at: number, id: string): string {
  return `${String(at).padStart(16, '0')}.${id}`;
}

/** @throws ApiFailure 400 for a cursor that is none of a list in this order */
export function requireCursor(cursor: string | undefined, { form }: Pick<Order<never>, 'form'>): void {
  if (cursor === undefined || form.test(cursor)) return;
  throw new ApiFailure(400, 'invalid_request', 'This is no cursor of this list.', { field: 'cursor' });
}

/**
 * The page of a list that follows after a cursor, which may stand for something that is gone by now. A page is in the order of the cursors;
 * the whole list (a limit of Infinity) stays as it is.
 * @throws ApiFailure 400 for a cursor that is none of the list
 */
export function pageOf<T>(
  all: readonly T[],
  { limit, cursor }: { limit: number; cursor: string | undefined },
  order: Order<T>,
): Page<T> {
  requireCursor(cursor, order);
  if (limit === Infinity) return { data: [...all], next: undefined };
  const rest = all
    .map((each) => ({ each, place: order.cursorOf(each) }))
    .filter(({ place }) => cursor === undefined || place > cursor)
    .sort((one, other) => (one.place < other.place ? -1 : 1));
  const next = rest.length > limit ? rest[limit - 1]?.place : undefined;
  return { data: rest.slice(0, limit).map(({ each }) => each), next };
}
