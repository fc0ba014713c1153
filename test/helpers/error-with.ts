import { expect } from 'vitest';

/** Matches an error with this code, and with further fields. */
export function errorWith(code: string, fields: object = {}): Error {
  return expect.objectContaining({ code, ...fields }) as Error;
}
