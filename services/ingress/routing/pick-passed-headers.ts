import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { pickHeaders } from '#shared/core/pick-headers.ts';

/** Largest length of a header that is sent to an upstream. The longest one in use, `anthropic-beta`, lists about a dozen names. */
const maxHeaderLength = 4096;

/**
 * Returns the headers of the client that are passed to an upstream of the same format; undefined if there are none.
 * @throws RouterError `headers_too_large` for a header that is too long
 */
export function pickPassedHeaders(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): Record<string, string> | undefined {
  // Most requests have none of these headers. If no name ends in `*`, looking up each name is cheaper than walking through all headers.
  if (!names.some((name) => name.endsWith('*') || headers[name] !== undefined)) return undefined;
  const passed = pickHeaders(headers, names);
  for (const [name, { length }] of Object.entries(passed)) {
    if (length > maxHeaderLength)
      throw new RouterError('headers_too_large', `The header ${name} is longer than ${maxHeaderLength} characters.`);
  }
  return Object.keys(passed).length === 0 ? undefined : passed;
}
