import { parseExact, writeExact } from '#shared/core/exact-numbers.ts';
import { isJsonObject, nestsTooDeeply, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';

/**
 * A tool call's id with the characters that the messages format allows: letters, digits, `_` and `-`. Other characters are
 * replaced by their code, so that different ids stay different.
 */
export function messagesToolId(id: string): string {
  return id.replaceAll(/[^\w-]/g, (character) => `_x${character.charCodeAt(0).toString(16)}_`);
}

/** The field for arguments that are not a JSON object, or one nested too deeply to be serialized again. */
const rawField = '_raw';

/** A tool call's input (an object, in the messages format) from its arguments (text, in the chat format). */
export function toolInput(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parseUpstreamJson(text, parseExact);
  return isJsonObject(value) && !nestsTooDeeply(value) ? value : { [rawField]: text };
}

/** A tool call's arguments from its input. */
export function toolArguments(input: JsonObject): string {
  const raw = input[rawField];
  return typeof raw === 'string' && Object.keys(input).length === 1 ? raw : writeExact(input);
}
