import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';

/** Characters of one header that is passed on. The longest in use lists a dozen names of beta features. */
const maxLength = 4096;

/**
 * The client's headers that an upstream of its own format is to see; undefined when it sent none of them.
 * @throws RouterError `headers_too_large` for one that is too long
 */
export function passedHeaders(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): Record<string, string> | undefined {
  const passed: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value !== 'string' || value === '') continue;
    if (value.length > maxLength) {
      throw new RouterError('headers_too_large', `The header ${name} is longer than ${maxLength} characters.`);
    }
    passed[name] = value;
  }
  return Object.keys(passed).length === 0 ? undefined : passed;
}
