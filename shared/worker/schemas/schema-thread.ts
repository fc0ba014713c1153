import { parentPort } from 'node:worker_threads';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { compileSchema, type SchemaProblem, type UntrustedSchema } from './compile-schema.ts';

/** A task for this thread: the check of a value against a schema, which is JSON text. Without a value, the schema is only compiled. */
export interface SchemaTask extends Omit<UntrustedSchema, 'schema'> {
  schema: string;
  value?: Json;
}

/** `problems`: the mismatches of the value; empty if the value is valid. `invalid`: the reason why the schema itself is invalid. */
export type SchemaOutcome = { problems: SchemaProblem[] } | { invalid: string };

/** Maximum compiled schemas that are kept; the schema that was used least recently is dropped. */
const maxKeptChecks = 20;
/** By whether the schema must match its meta-schema, and its text. */
const compiledChecks = new Map<string, ReturnType<typeof compileSchema>>();

parentPort?.on('message', ({ schema, mustMatchMetaSchema, value }: SchemaTask) => {
  parentPort?.postMessage(checkValue(schema, mustMatchMetaSchema, value), []);
});

function checkValue(schema: string, mustMatchMetaSchema: boolean, value: Json | undefined): SchemaOutcome {
  const key = `${mustMatchMetaSchema} ${schema}`;
  let check = compiledChecks.get(key);
  try {
    check ??= compileSchema({ schema: JSON.parse(schema) as JsonObject, mustMatchMetaSchema });
  } catch (error) {
    return { invalid: error instanceof Error ? error.message : String(error) };
  }
  compiledChecks.delete(key);
  compiledChecks.set(key, check);
  const [oldest] = compiledChecks.keys();
  if (compiledChecks.size > maxKeptChecks && oldest !== undefined) compiledChecks.delete(oldest);
  return { problems: value === undefined ? [] : check(value) };
}
