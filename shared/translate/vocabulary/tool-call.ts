import { parseExact, writeExact } from '#shared/core/exact-numbers.ts';
import { isJsonObject, nestsTooDeeply, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';

/**
 * Converts a tool call's id to the characters that the `messages` format allows: letters, digits, `_` and `-`. Each other character is
 * replaced by its code, so that different ids stay different.
 */
export function toMessagesToolId(id: string): string {
  return id.replaceAll(/[^\w-]/g, (character) => `_x${character.charCodeAt(0).toString(16)}_`);
}

/** The field for arguments that are not a JSON object, or are nested too deeply to be serialized again. */
const rawField = '_raw';

/** Converts a tool call's arguments (text, as in the chat format) to its input (an object, as in the `messages` format). */
export function parseToolInput(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parseUpstreamJson(text, parseExact);
  return isJsonObject(value) && !nestsTooDeeply(value) ? value : { [rawField]: text };
}

/** Converts a tool call's input to its arguments. */
export function writeToolArguments(input: JsonObject): string {
  const raw = input[rawField];
  return typeof raw === 'string' && Object.keys(input).length === 1 ? raw : writeExact(input);
}
