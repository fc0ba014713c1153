import { isJsonObject } from '#shared/core/json.ts';

export interface Difference {
  /** Such as `limits.costPerDay`. */
  field: string;
  before: unknown;
  after: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns the wanted fields whose values differ from the current ones. If a field is an object, all its values are compared, because the
 * change replaces the object as a whole.
 * @param current the existing object; undefined if it does not exist yet
 */
export function findDifferences(current: object | undefined, wanted: object): Difference[] {
  const before = (current ?? {}) as Values;
  return Object.entries(wanted).flatMap(([field, after]) =>
    after === undefined ? [] : compare(field, before[field], after),
  );
}

/** Returns the wanted fields that differ, as the body of the request that changes them. */
export function pickChangedFields(wanted: object, differences: readonly Difference[]): Record<string, unknown> {
  const names = new Set(differences.map(({ field }) => field.split('.')[0]));
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => names.has(name)));
}

function compare(field: string, before: unknown, after: unknown): Difference[] {
  if (isJsonObject(after) && (isJsonObject(before) || before === undefined)) {
    const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after)]);
    return [...names].flatMap((name) => compare(`${field}.${name}`, before?.[name], after[name]));
  }
  return JSON.stringify(before ?? null) === JSON.stringify(after ?? null) ? [] : [{ field, before, after }];
}
