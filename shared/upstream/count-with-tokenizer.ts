import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { imageTokens } from '#shared/formats/estimate-tokens.ts';

/** Tokens that templates add to each message: its role, a beginning and an end. */
const messageTokens = 4;

/** Maximum number of characters that are counted; the rest is extrapolated. */
const maxCounted = 1024 * 1024;

/**
 * Estimates the input tokens of a chat request with the o200k tokenizer, which is not the model's own. It counts the texts of all messages,
 * calls and results, the tools as JSON, and a flat number per image. The tokenizer's tables are loaded on first use. Even a long input does
 * not block the event loop.
 */
export async function countWithTokenizer(request: JsonObject, signal: AbortSignal): Promise<number> {
  const { countTokens } = await import('./o200k-tokens.ts');
  const { texts, flat } = splitTexts(request);
  let chars = 0;
  let counted = 0;
  let tokens = 0;
  for (const text of texts) {
    chars += text.length;
    const part = text.slice(0, maxCounted - counted);
    if (part === '') continue;
    tokens += await countTokens(part, signal);
    counted += part.length;
  }
  return flat + (counted === 0 ? 0 : Math.round(tokens * (chars / counted)));
}

/** Splits a request into its texts, and the tokens of everything else. */
function splitTexts({ messages, tools }: JsonObject): { texts: string[]; flat: number } {
  const texts: string[] = Array.isArray(tools) && tools.length > 0 ? [JSON.stringify(tools)] : [];
  let flat = 0;
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message)) continue;
    const { content, reasoning_content: thinking, tool_calls: calls } = message;
    flat += messageTokens + addContent(content, texts);
    if (typeof thinking === 'string') texts.push(thinking);
    if (Array.isArray(calls)) texts.push(JSON.stringify(calls));
  }
  return { texts, flat };
}

function addContent(content: Json | undefined, texts: string[]): number {
  if (typeof content === 'string') texts.push(content);
  if (!Array.isArray(content)) return 0;
  let flat = 0;
  for (const part of content) {
    if (!isJsonObject(part)) continue;
    if (part.type === 'image_url') flat += imageTokens;
    else if (typeof part.text === 'string') texts.push(part.text);
  }
  return flat;
}
