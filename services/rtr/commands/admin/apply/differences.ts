/** A field that is to have another value. */
export interface Difference {
  /** As `limits.costPerDay`. */
  field: string;
  before: unknown;
  after: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/** What is wanted of something and is not so yet, field by field. Objects are wanted whole. @param now undefined: there is nothing yet */
export function differences(now: object | undefined, wanted: object): Difference[] {
  const before = (now ?? {}) as Values;
  return Object.entries(wanted).flatMap(([field, after]) =>
    after === undefined ? [] : compare(field, before[field], after),
  );
}

/** Of what is wanted, the fields that differ, as a change takes them. */
export function changedFields(wanted: object, found: readonly Difference[]): Record<string, unknown> {
  const names = new Set(found.map(({ field }) => field.split('.')[0]));
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => names.has(name)));
}

function compare(field: string, before: unknown, after: unknown): Difference[] {
  if (isObject(after) && (isObject(before) || before === undefined)) {
    const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after)]);
    return [...names].flatMap((name) => compare(`${field}.${name}`, before?.[name], after[name]));
  }
  return JSON.stringify(before ?? null) === JSON.stringify(after ?? null) ? [] : [{ field, before, after }];
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
