import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * Converts log probabilities to the completions format. llama.cpp sends those of the chat format.
 * @param offset characters of the answer before this chunk
 */
export function convertLogprobs(logprobs: Json, offset: number): Json {
  const content = isJsonObject(logprobs) ? logprobs['content'] : undefined;
  if (!Array.isArray(content)) return logprobs;
  const tokens = content.filter(isJsonObject);
  let end = offset;
  return {
    tokens: tokens.map(textOf),
    token_logprobs: tokens.map(({ logprob = null }) => logprob),
    top_logprobs: tokens.map(topOf),
    text_offset: tokens.map((token) => {
      const start = end;
      end += textOf(token).length;
      return start;
    }),
  };
}

function textOf({ token }: JsonObject): string {
  return typeof token === 'string' ? token : '';
}

/** Returns the most likely tokens at the position of a token; null if none were requested. */
function topOf({ top_logprobs: alternatives }: JsonObject): Json {
  const top = Array.isArray(alternatives) ? alternatives.filter(isJsonObject) : [];
  if (top.length === 0) return null;
  return Object.fromEntries(top.map((each) => [textOf(each), each['logprob'] ?? null]));
}
