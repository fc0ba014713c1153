import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { nestsTooDeeply } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';

/**
 * A tool call's id as the messages format takes it: letters, digits, `_` and `-`. Other characters are written by their
 * code, so that different ids stay different.
 */
export function messagesToolId(id: string): string {
  return id.replaceAll(/[^\w-]/g, (character) => `_x${character.charCodeAt(0).toString(16)}_`);
}

/** Holds arguments that are not a JSON object, or none that could be written again, which the messages format has no other place for. */
const rawField = '_raw';

/** A tool call's input as the messages format has it, an object, for its arguments as the chat format has them, text. */
export function toolInput(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parseUpstreamJson(text);
  return isJsonObject(value) && !nestsTooDeeply(value) ? value : { [rawField]: text };
}

/** The reverse. */
export function toolArguments(input: JsonObject): string {
  const raw = input[rawField];
  return typeof raw === 'string' && Object.keys(input).length === 1 ? raw : JSON.stringify(input);
}
