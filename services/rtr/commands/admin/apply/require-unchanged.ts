import type { AdminClient } from '../admin-client.ts';
import { CallError } from '../../client/call-error.ts';
import type { Difference } from './differences.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads an object again before it is changed, so that a change which somebody else made after the plan is not overwritten.
 * @returns the revision of the object, to send with the change
 * @throws CallError if a field has neither the old nor the wanted value
 */
export async function requireUnchanged(
  client: AdminClient,
  path: string,
  fields: readonly Difference[],
): Promise<string | undefined> {
  const { value, etag } = await client.send<object>('GET', path);
  requireUnchangedFields(value, fields);
  return etag;
}

/**
 * Checks that fields have either the old or the wanted value.
 * @throws CallError if a field has neither
 */
export function requireUnchangedFields(now: object | undefined, fields: readonly Difference[]): void {
  const changed = fields.find(({ field, before, after }) => {
    const value = textOf(field.split('.').reduce<unknown>(inside, now));
    return value !== textOf(before) && value !== textOf(after);
  });
  if (!changed) return;
  const message = `${changed.field} has been changed by somebody else since the plan was made.`;
  throw new CallError(412, message, { code: 'stale', field: changed.field });
}

function inside(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Values)[name] : undefined;
}

function textOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}
