import type { IncomingMessage } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';

const keyPattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

export interface IdempotencyHeaders {
  key: string;
  /** Number of the event that the answer continues after; undefined for the whole answer. */
  after: number | undefined;
}

/**
 * Reads `Idempotency-Key` and `Last-Event-ID`.
 * @throws RouterError `invalid_value`
 */
export function readIdempotencyKey({ headers }: IncomingMessage): IdempotencyHeaders {
  const { 'idempotency-key': key, 'last-event-id': after } = headers;
  if (typeof key !== 'string' || !keyPattern.test(key)) {
    const message = 'The header Idempotency-Key must have 1 to 255 printable ASCII characters.';
    throw new RouterError('invalid_value', message, { param: 'idempotency-key' });
  }
  if (after === undefined) return { key, after: undefined };
  if (typeof after === 'string' && /^\d{1,15}$/.test(after)) return { key, after: Number(after) };
  const message = 'The header Last-Event-ID must be the id of an event of the answer: a number.';
  throw new RouterError('invalid_value', message, { param: 'last-event-id' });
}
