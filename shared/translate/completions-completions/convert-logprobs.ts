import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * Converts log probabilities to the completions format, because llama.cpp sends them in the chat format.
 * @param offset characters of the answer before this chunk
 */
export function convertLogprobs(logprobs: Json, offset: number): Json {
  const content = isJsonObject(logprobs) ? logprobs['content'] : undefined;
  if (!Array.isArray(content)) return logprobs;
  const tokens = content.filter(isJsonObject);
  let end = offset;
  return {
    tokens: tokens.map(readTokenText),
    token_logprobs: tokens.map(({ logprob = null }) => logprob),
    top_logprobs: tokens.map(readAlternatives),
    text_offset: tokens.map((token) => {
      const start = end;
      end += readTokenText(token).length;
      return start;
    }),
  };
}

function readTokenText({ token }: JsonObject): string {
  return typeof token === 'string' ? token : '';
}

/** Returns the most likely tokens at the position of a token; null if none were requested. */
function readAlternatives({ top_logprobs: alternatives }: JsonObject): Json {
  const top = Array.isArray(alternatives) ? alternatives.filter(isJsonObject) : [];
  if (top.length === 0) return null;
  return Object.fromEntries(top.map((each) => [readTokenText(each), each['logprob'] ?? null]));
}
