import { RouterError } from '#shared/core/errors.ts';

/**
 * Encodes a text as one segment of a path. The segments `.` and `..` are refused, because URL parsers resolve them however they are
 * encoded. The path would become the path of another operation, such as `/users/{id}/` for a session called `..`. An empty text is also
 * refused.
 * @throws RouterError `invalid_request` for a refused text
 */
export function toPathSegment(value: string | number): string {
  const text = String(value);
  if (['', '.', '..'].includes(text)) {
    throw new RouterError('invalid_request', `"${text}" is not the name or the id of anything. Nothing was sent.`);
  }
  return encodeURIComponent(text);
}
