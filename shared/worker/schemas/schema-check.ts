import type { Json } from '#shared/core/json.ts';
import { compileSchema, type SchemaProblem, type UntrustedSchema } from './compile-schema.ts';
import { isPlainSchema } from './plain-schema.ts';
import type { SchemaTask } from './schema-thread.ts';
import { SchemaThreads } from './schema-threads.ts';

/** Maximum characters of a plain schema that this thread compiles. */
const maxSchemaCharacters = 64 * 1024;
/** Maximum product of the characters of the schema and the characters of the value for a check in this thread. */
const maxProduct = 200e6;

/** Thrown for a schema that does not compile, or that does not match its meta-schema although it must. */
export class InvalidSchemaError extends Error {
  override name = 'InvalidSchemaError';
}

/**
 * Checks a value whose JSON has `length` characters. Returns the mismatches; an empty list means that the value is valid. A check in another
 * thread waits for the turn of its owner. Checks without an owner have one turn together.
 * @throws InvalidSchemaError if the schema is invalid; CostlySchemaError if the check takes too much CPU time or memory
 */
export type SchemaCheck = (value: Json, length: number, owner?: string) => SchemaProblem[] | Promise<SchemaProblem[]>;

const threads = new SchemaThreads();

/**
 * Prepares the check of values against an untrusted schema. The check of a short value against a short plain schema runs in this thread.
 * Any other check runs in another thread, for at most two seconds of CPU time, because in this thread all other jobs would wait for it.
 * @throws InvalidSchemaError for an invalid schema, if it is plain and short and therefore compiled at once
 */
export function createSchemaCheck({ schema, mustMatchMetaSchema }: UntrustedSchema): SchemaCheck {
  const text = JSON.stringify(schema);
  const checkHere =
    text.length <= maxSchemaCharacters && isPlainSchema(schema)
      ? compileOrThrow({ schema, mustMatchMetaSchema })
      : undefined;
  return (value, length, owner) =>
    checkHere && text.length * length <= maxProduct
      ? checkHere(value)
      : checkInThread({ schema: text, mustMatchMetaSchema, value }, owner);
}

/**
 * Compiles a long or costly schema in another thread, to find out whether it is valid. Does nothing for a short plain schema, because
 * `createSchemaCheck` compiles it at once.
 * @throws InvalidSchemaError if the schema is invalid; CostlySchemaError if the check takes too much CPU time or memory
 */
export async function assertSchema({ schema, mustMatchMetaSchema }: UntrustedSchema): Promise<void> {
  const text = JSON.stringify(schema);
  if (text.length > maxSchemaCharacters || !isPlainSchema(schema))
    await checkInThread({ schema: text, mustMatchMetaSchema });
}

async function checkInThread(task: SchemaTask, owner = ''): Promise<SchemaProblem[]> {
  const outcome = await threads.run(task, owner);
  if ('problems' in outcome) return outcome.problems;
  throw new InvalidSchemaError(outcome.invalid);
}

function compileOrThrow(schema: UntrustedSchema): (value: Json) => SchemaProblem[] {
  try {
    return compileSchema(schema);
  } catch (error) {
    throw new InvalidSchemaError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
