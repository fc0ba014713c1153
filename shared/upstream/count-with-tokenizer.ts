import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { imageTokens } from '#shared/protocol/estimate-tokens.ts';

/** What templates put around each message: its role, a beginning and an end. */
const messageTokens = 4;

/**
 * Tokens of a chat request's input by a tokenizer that is not the model's own (o200k), so about right: the texts of all
 * messages, calls and results, the tools as JSON, images at a flat price. Its tables are loaded when first needed.
 */
export async function countWithTokenizer({ messages, tools }: JsonObject): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const count = (text: string): number => countTokens(text, { allowedSpecial: 'all' });
  let total = Array.isArray(tools) && tools.length > 0 ? count(JSON.stringify(tools)) : 0;
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message)) continue;
    const { content, reasoning_content: thinking, tool_calls: calls } = message;
    total += messageTokens + ofContent(content, count);
    if (typeof thinking === 'string') total += count(thinking);
    if (Array.isArray(calls)) total += count(JSON.stringify(calls));
  }
  return total;
}

function ofContent(content: Json | undefined, count: (text: string) => number): number {
  if (typeof content === 'string') return count(content);
  if (!Array.isArray(content)) return 0;
  let total = 0;
  for (const part of content) {
    if (!isJsonObject(part)) continue;
    if (part.type === 'image_url') total += imageTokens;
    else if (typeof part.text === 'string') total += count(part.text);
  }
  return total;
}
