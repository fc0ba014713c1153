import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { pickHeaders } from '#shared/core/pick-headers.ts';

/** Largest length of a header that is sent to an upstream. The longest one in use, `anthropic-beta`, lists about a dozen names. */
const maxHeaderLength = 4096;

/**
 * Returns those headers of the client that an upstream of the same format receives; undefined if the client sent none of them.
 * @throws RouterError `headers_too_large` for a header that is too long
 */
export function pickPassedHeaders(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): Record<string, string> | undefined {
  // Most requests have none of these headers. Unless a name ends in `*`, a look-up of each name shows it without a walk through all headers.
  if (!names.some((name) => name.endsWith('*') || headers[name] !== undefined)) return undefined;
  const passed = pickHeaders(headers, names);
  for (const [name, { length }] of Object.entries(passed)) {
    if (length > maxHeaderLength)
      throw new RouterError('headers_too_large', `The header ${name} is longer than ${maxHeaderLength} characters.`);
  }
  return Object.keys(passed).length === 0 ? undefined : passed;
}
