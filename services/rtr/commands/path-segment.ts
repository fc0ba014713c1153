import { RouterError } from '#shared/core/errors.ts';

/**
 * Encodes a text as one segment of a path. Refuses an empty text. Refuses `.` and `..`, because URL parsers resolve them even if they are
 * encoded: with a session called `..`, the path would become the path of another operation, `/users/{id}/`.
 * @throws RouterError `invalid_request` for a refused text
 */
export function toPathSegment(value: string | number): string {
  const text = String(value);
  if (['', '.', '..'].includes(text)) {
    throw new RouterError('invalid_request', `"${text}" is not the name or the id of anything. Nothing was sent.`);
  }
  return encodeURIComponent(text);
}
