import { z } from 'zod';

/** A value of a record that is stored as JSON in one field of a hash. */
export function storedJson<T extends z.ZodType>(schema: T) {
  return z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(schema);
}

/** A record as the fields of a hash: objects and lists as JSON, and no field for what is undefined. */
export function storedFields(record: object): Record<string, string> {
  const given = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]),
  );
}
