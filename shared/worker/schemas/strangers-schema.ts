import type { Json } from '#shared/core/json.ts';
import { compileSchema, type SchemaProblem, type StrangersSchema } from './compile-schema.ts';
import { isPlainSchema } from './plain-schema.ts';
import { SchemaThreads } from './schema-threads.ts';

/** Characters of a plain schema that is compiled here, and those of a schema times those of a value that is checked here. */
const maxSchema = 64 * 1024;
const maxProduct = 200e6;

/** Thrown for a schema that is none. */
export class InvalidSchemaError extends Error {
  override name = 'InvalidSchemaError';
}

/**
 * What is wrong with a value that as JSON has so many characters; nothing if it has the schema.
 * @throws InvalidSchemaError, CostlySchemaError
 */
export type SchemaCheck = (value: Json, length: number) => SchemaProblem[] | Promise<SchemaProblem[]>;

const threads = new SchemaThreads();

/**
 * Prepares the check of values against a schema that a stranger wrote. What takes no longer than reading the value is checked at once;
 * anything else in a thread, for two seconds of a core at most, since the jobs of all others wait for this one.
 * @throws InvalidSchemaError if it is found out at once
 */
export function checkOfStrangers({ schema, isChecked }: StrangersSchema): SchemaCheck {
  const text = JSON.stringify(schema);
  const here = text.length <= maxSchema && isPlainSchema(schema) ? compiled({ schema, isChecked }) : undefined;
  return (value, length) =>
    here && text.length * length <= maxProduct ? here(value) : inThread({ schema: text, isChecked, value });
}

/** Compiles a schema, where it stops nobody. @throws InvalidSchemaError, CostlySchemaError */
export async function assertSchema({ schema, isChecked }: StrangersSchema): Promise<void> {
  const text = JSON.stringify(schema);
  if (text.length > maxSchema || !isPlainSchema(schema)) await inThread({ schema: text, isChecked });
}

async function inThread(task: { schema: string; isChecked: boolean; value?: Json }): Promise<SchemaProblem[]> {
  const outcome = await threads.run(task);
  if ('problems' in outcome) return outcome.problems;
  throw new InvalidSchemaError(outcome.invalid);
}

function compiled(schema: StrangersSchema): (value: Json) => SchemaProblem[] {
  try {
    return compileSchema(schema);
  } catch (error) {
    throw new InvalidSchemaError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
