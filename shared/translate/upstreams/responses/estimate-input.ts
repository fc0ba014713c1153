import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { estimateTokens, imageTokens } from '#shared/formats/estimate-tokens.ts';

/** Tokens of an item in addition to its content. */
const itemTokens = 4;

/** Input tokens of a Responses request, estimated from its size. */
export function estimateResponsesInput({ input, instructions, tools }: JsonObject): number {
  const items = Array.isArray(input) ? input : [input ?? ''];
  let tokens = textTokens(instructions) + (Array.isArray(tools) && tools.length > 0 ? textTokens(tools) : 0);
  for (const item of items) tokens += itemTokens + tokensOf(item);
  return tokens;
}

function tokensOf(item: Json | undefined): number {
  const parts = isJsonObject(item) ? (item['content'] ?? item['output']) : undefined;
  if (!Array.isArray(parts)) return textTokens(parts ?? item);
  return parts.reduce<number>((sum, part) => {
    const isImage = isJsonObject(part) && part['type'] === 'input_image';
    return sum + (isImage ? imageTokens : textTokens(isJsonObject(part) ? (part['text'] ?? part) : part));
  }, 0);
}

function textTokens(value: Json | undefined): number {
  if (value === undefined || value === null) return 0;
  return estimateTokens(typeof value === 'string' ? value : JSON.stringify(value));
}
