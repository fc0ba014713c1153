import { RouterError } from '#shared/core/errors.ts';

/**
 * A text as one segment of a path. URLs resolve `.` and `..`, however they are encoded: the path would be that of another operation, as
 * `/users/{id}/` for a session called `..`. An empty text leaves no segment either.
 * @throws RouterError `invalid_request` for these
 */
export function pathSegment(value: string | number): string {
  const text = String(value);
  if (['', '.', '..'].includes(text)) {
    throw new RouterError('invalid_request', `"${text}" is not the name or the id of anything. Nothing was sent.`);
  }
  return encodeURIComponent(text);
}
