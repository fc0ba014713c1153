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
  cursor: z.string().max(200).optional().describe('`next` of the page before.'),
});

/** A page of a list. */
export interface Page<T> {
  data: T[];
  /** The cursor of the page after it; undefined on the last one. */
  next: string | undefined;
}

/** The cursor of something with an id that was created at a time: lists are in this order. */
export function placeOf({ createdAt, id }: { createdAt: number; id: string }): string {
  return `${String(createdAt).padStart(16, '0')}.${id}`;
}

/** @throws ApiFailure 400 for a cursor that `placeOf` has not made */
export function requirePlace(cursor: string | undefined): void {
  if (cursor === undefined || /^\d{16}\.\w{1,64}$/.test(cursor)) return;
  throw new ApiFailure(400, 'invalid_request', 'This is no cursor of this list.', { field: 'cursor' });
}

/**
 * The page of a list that follows after a cursor, which may stand for something that is gone by now. A page is in the order of the cursors;
 * the whole list (a limit of Infinity) stays as it is.
 * @param placeOfEach the cursor of each
 * @throws ApiFailure 400 for a cursor that is none, where they are of `placeOf`
 */
export function pageOf<T>(
  all: readonly T[],
  { limit, cursor }: { limit: number; cursor: string | undefined },
  placeOfEach: (each: T) => string,
): Page<T> {
  if (Object.is(placeOfEach, placeOf)) requirePlace(cursor);
  if (limit === Infinity) return { data: [...all], next: undefined };
  const rest = all
    .map((each) => ({ each, place: placeOfEach(each) }))
    .filter(({ place }) => cursor === undefined || place > cursor)
    .sort((one, other) => (one.place < other.place ? -1 : 1));
  const next = rest.length > limit ? rest[limit - 1]?.place : undefined;
  return { data: rest.slice(0, limit).map(({ each }) => each), next };
}
