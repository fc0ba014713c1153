import type { Json } from '#shared/core/json.ts';
import { compileSchema, type SchemaProblem, type UntrustedSchema } from './compile-schema.ts';
import { isPlainSchema } from './plain-schema.ts';
import { SchemaThreads } from './schema-threads.ts';

/** Maximum characters of a plain schema that this thread compiles. */
const maxSchema = 64 * 1024;
/** Maximum characters of the schema times characters of the value for a check in this thread. */
const maxProduct = 200e6;

export class InvalidSchemaError extends Error {
  override name = 'InvalidSchemaError';
}

/**
 * Checks a value whose JSON has `length` characters. Returns the mismatches; an empty list means that the value is valid.
 * @throws InvalidSchemaError, CostlySchemaError
 */
export type SchemaCheck = (value: Json, length: number) => SchemaProblem[] | Promise<SchemaProblem[]>;

const threads = new SchemaThreads();

/**
 * Prepares the check of values against an untrusted schema. The check of a short value against a plain schema runs in this thread. Any
 * other check runs in another thread, for at most two seconds of CPU time, because all other jobs would wait for it here.
 * @throws InvalidSchemaError if the schema is compiled at once and is invalid
 */
export function createSchemaCheck({ schema, isChecked }: UntrustedSchema): SchemaCheck {
  const text = JSON.stringify(schema);
  const here = text.length <= maxSchema && isPlainSchema(schema) ? compiled({ schema, isChecked }) : undefined;
  return (value, length) =>
    here && text.length * length <= maxProduct ? here(value) : inThread({ schema: text, isChecked, value });
}

/**
 * Checks that a schema compiles, if it is too long or not plain. `createSchemaCheck` compiles all other schemas at once. Runs in another
 * thread.
 * @throws InvalidSchemaError, CostlySchemaError
 */
export async function assertSchema({ schema, isChecked }: UntrustedSchema): Promise<void> {
  const text = JSON.stringify(schema);
  if (text.length > maxSchema || !isPlainSchema(schema)) await inThread({ schema: text, isChecked });
}

async function inThread(task: { schema: string; isChecked: boolean; value?: Json }): Promise<SchemaProblem[]> {
  const outcome = await threads.run(task);
  if ('problems' in outcome) return outcome.problems;
  throw new InvalidSchemaError(outcome.invalid);
}

function compiled(schema: UntrustedSchema): (value: Json) => SchemaProblem[] {
  try {
    return compileSchema(schema);
  } catch (error) {
    throw new InvalidSchemaError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
