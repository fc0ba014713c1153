import { z } from 'zod';

/** Returns the schema of a value that is stored as JSON in one field of a hash. */
export function createStoredSchema<T extends z.ZodType>(schema: T) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        // The parser's own message is not used, because it quotes the text.
        context.addIssue({ code: 'custom', message: 'no JSON' });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

/** Returns the schema of a list stored as JSON. It drops values that are not in `known`, because a newer release may define more. */
export function createStoredListSchema<T extends string>(known: readonly T[]) {
  return createStoredSchema(z.array(z.string())).transform((values) =>
    values.filter((value): value is T => known.some((knownValue) => knownValue === value)),
  );
}

/** Converts a record to the fields of a hash. Objects and lists become JSON; undefined values are left out. */
export function toStoredFields(record: object): Record<string, string> {
  const defined = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    defined.map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]),
  );
}

/**
 * Returns the JSON of an object that replaces a stored object. Fields that this release does not define are taken over from the stored
 * object, because another release has written them.
 * @param known the names of all fields that this release defines, including those that `value` lacks
 */
export function replaceJson(stored: string | null, value: object, known: readonly string[]): string {
  const before = createStoredSchema(z.record(z.string(), z.unknown())).safeParse(stored ?? '{}').data ?? {};
  const foreignFields = Object.entries(before).filter(([name]) => !known.includes(name));
  return JSON.stringify({ ...Object.fromEntries(foreignFields), ...value });
}

/** The number of changes of a record since its creation; absent: 0. A caller may make its change depend on the revision. */
export const revisionSchema = z.coerce.number().int().min(0).optional().catch(undefined);
