import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Reads recorded output of a real CLI, from `test/fixtures/clis/`. */
export function cliRecording(name: string): JsonObject[] {
  const lines = readFileSync(`test/fixtures/clis/${name}.jsonl`, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown).filter(isJsonObject);
}
