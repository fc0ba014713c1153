import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * Returns the log probabilities of a text in a chat upstream's choice, in the Responses format. Some engines report thinking, text and
 * calls in one list. Returns only the tokens of the text.
 * @param logprobs `choices[].logprobs` of an answer or a chunk
 */
export function readTextLogprobs(logprobs: Json | undefined, text: string): JsonObject[] {
  const content = isJsonObject(logprobs) ? logprobs['content'] : undefined;
  if (!Array.isArray(content) || text === '') return [];
  const entries = content.filter(isJsonObject);
  const [start, end] = findTokenRange(entries.map(readToken), text) ?? [0, 0];
  return entries.slice(start, end).map(toResponsesLogprob);
}

/**
 * Returns the range of tokens that make up the text. Returns the whole list if the tokens are not longer than the text: the texts may
 * differ then, because a token may be less than a character.
 */
function findTokenRange(tokens: readonly string[], text: string): [number, number] | undefined {
  const allTokens = tokens.join('');
  if (allTokens.length <= text.length) return [0, tokens.length];
  const begin = allTokens.lastIndexOf(text);
  if (begin === -1) return undefined;
  let position = 0;
  let start: number | undefined;
  for (const [index, token] of tokens.entries()) {
    if (position === begin) start ??= index;
    position += token.length;
    if (start !== undefined && position >= begin + text.length) return [start, index + 1];
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
  const token = readToken(entry);
  return { token, bytes: Array.isArray(bytes) ? bytes : [...Buffer.from(token)], logprob: logprob ?? null };
}

function readToken({ token }: JsonObject): string {
  return typeof token === 'string' ? token : '';
}
