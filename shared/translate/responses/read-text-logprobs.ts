import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * Returns the log probabilities of a text in a chat upstream's choice, in the Responses format. Some engines report thinking, text and
 * calls in one list; only the tokens of the text are returned.
 * @param logprobs `choices[].logprobs` of an answer or a chunk
 */
export function readTextLogprobs(logprobs: Json | undefined, text: string): JsonObject[] {
  const content = isJsonObject(logprobs) ? logprobs['content'] : undefined;
  if (!Array.isArray(content) || text === '') return [];
  const entries = content.filter(isJsonObject);
  const [start, end] = findTokenRange(entries.map(tokenOf), text) ?? [0, 0];
  return entries.slice(start, end).map(toResponsesLogprob);
}

/**
 * Returns the range of tokens that make up the text. If there are no other tokens, the range covers the whole list, because a token may be
 * less than a character.
 */
function findTokenRange(tokens: readonly string[], text: string): [number, number] | undefined {
  const all = tokens.join('');
  if (all.length <= text.length) return [0, tokens.length];
  const begin = all.lastIndexOf(text);
  if (begin === -1) return undefined;
  let at = 0;
  let start: number | undefined;
  for (const [index, token] of tokens.entries()) {
    if (at === begin) start ??= index;
    at += token.length;
    if (start !== undefined && at >= begin + text.length) return [start, index + 1];
  }
  return undefined;
}

function toResponsesLogprob(entry: JsonObject): JsonObject {
  const { top_logprobs: top } = entry;
  return {
    ...toProbability(entry),
    top_logprobs: Array.isArray(top) ? top.filter(isJsonObject).map(toProbability) : [],
  };
}

function toProbability(entry: JsonObject): JsonObject {
  const { logprob, bytes } = entry;
  const token = tokenOf(entry);
  return { token, bytes: Array.isArray(bytes) ? bytes : [...Buffer.from(token)], logprob: logprob ?? null };
}

function tokenOf({ token }: JsonObject): string {
  return typeof token === 'string' ? token : '';
}
