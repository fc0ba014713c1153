import type { AdminClient } from '../admin-client.ts';
import { CallError } from '../../client/call-error.ts';
import type { Difference } from './find-differences.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads an object again before it is changed, so that the change does not overwrite a change that somebody else has made since the plan.
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
export function requireUnchangedFields(current: object | undefined, fields: readonly Difference[]): void {
  const conflict = fields.find(({ field, before, after }) => {
    const value = toComparable(field.split('.').reduce<unknown>(readField, current));
    return value !== toComparable(before) && value !== toComparable(after);
  });
  if (!conflict) return;
  const message = `${conflict.field} has been changed by somebody else since the plan was made.`;
  throw new CallError(412, message, { code: 'stale', field: conflict.field });
}

function readField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Values)[name] : undefined;
}

function toComparable(value: unknown): string {
  return JSON.stringify(value ?? null);
}
