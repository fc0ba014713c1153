import { parentPort } from 'node:worker_threads';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { compileSchema, type SchemaProblem, type UntrustedSchema } from './compile-schema.ts';

/** A schema as JSON text, and a value; without a value, the schema is only compiled. */
export interface SchemaTask extends Omit<UntrustedSchema, 'schema'> {
  schema: string;
  value?: Json;
}

/** The mismatches of the value, or why the schema itself is invalid. */
export type SchemaOutcome = { problems: SchemaProblem[] } | { invalid: string };

const maxKept = 20;
const compiled = new Map<string, ReturnType<typeof compileSchema>>();

parentPort?.on('message', ({ schema, isChecked, value }: SchemaTask) => {
  parentPort?.postMessage(checkTask(schema, isChecked, value), []);
});

function checkTask(schema: string, isChecked: boolean, value: Json | undefined): SchemaOutcome {
  let check = compiled.get(schema);
  try {
    check ??= compileSchema({ schema: JSON.parse(schema) as JsonObject, isChecked });
  } catch (error) {
    return { invalid: error instanceof Error ? error.message : String(error) };
  }
  compiled.delete(schema);
  compiled.set(schema, check);
  const [oldest] = compiled.keys();
  if (compiled.size > maxKept && oldest !== undefined) compiled.delete(oldest);
  return { problems: value === undefined ? [] : check(value) };
}
