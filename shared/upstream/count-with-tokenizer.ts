import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { imageTokens } from '#shared/formats/estimate-tokens.ts';

/** Tokens that templates add to each message: the role, the beginning and the end. */
const tokensPerMessage = 4;

/** Maximum number of characters that are counted. The tokens of the rest are extrapolated. */
const maxCountedChars = 1024 * 1024;

/**
 * Estimates the input tokens of a chat request with the o200k tokenizer, not with the model's own. Counts the texts of all messages, calls
 * and results, the tools as JSON, and a fixed number per image. Loads the tables of the tokenizer on first use. Even a long input does not
 * block the event loop.
 */
export async function countWithTokenizer(request: JsonObject, signal: AbortSignal): Promise<number> {
  const { countTokens } = await import('./o200k-tokens.ts');
  const { texts, flatTokens } = splitTexts(request);
  let totalChars = 0;
  let countedChars = 0;
  let tokens = 0;
  for (const text of texts) {
    totalChars += text.length;
    const part = text.slice(0, maxCountedChars - countedChars);
    if (part === '') continue;
    tokens += await countTokens(part, signal);
    countedChars += part.length;
  }
  return flatTokens + (countedChars === 0 ? 0 : Math.round(tokens * (totalChars / countedChars)));
}

/** Splits a request into its texts, and the number of tokens of everything else. */
function splitTexts({ messages, tools }: JsonObject): { texts: string[]; flatTokens: number } {
  const texts: string[] = Array.isArray(tools) && tools.length > 0 ? [JSON.stringify(tools)] : [];
  let flatTokens = 0;
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message)) continue;
    const { content, reasoning_content: thinking, tool_calls: calls } = message;
    flatTokens += tokensPerMessage + collectContentTexts(content, texts);
    if (typeof thinking === 'string') texts.push(thinking);
    if (Array.isArray(calls)) texts.push(JSON.stringify(calls));
  }
  return { texts, flatTokens };
}

/** Adds the texts in a message's content to `texts`. Returns the tokens of its images. */
function collectContentTexts(content: Json | undefined, texts: string[]): number {
  if (typeof content === 'string') texts.push(content);
  if (!Array.isArray(content)) return 0;
  let flatTokens = 0;
  for (const part of content) {
    if (!isJsonObject(part)) continue;
    if (part.type === 'image_url') flatTokens += imageTokens;
    else if (typeof part.text === 'string') texts.push(part.text);
  }
  return flatTokens;
}
