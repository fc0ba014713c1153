import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';

/**
 * Returns the usage of a whole answer with several choices. llama.cpp counts only the output of the first choice. An answer is llama.cpp's
 * if it has `timings`. The output of the other choices is then estimated from the length of their texts.
 * @param usage the usage as the upstream reports it
 * @param textReaders functions that return all text that the model wrote in each choice
 */
export function completeChoiceUsage(
  usage: Usage | undefined,
  { timings }: JsonObject,
  textReaders: readonly (() => string)[],
): Usage | undefined {
  if (!usage || textReaders.length < 2 || !isJsonObject(timings) || timings['predicted_n'] !== usage.completionTokens)
    return usage;
  const [first = 0, ...others] = textReaders.map((readText) => Buffer.byteLength(readText()));
  const factor = first === 0 ? textReaders.length : 1 + others.reduce((sum, bytes) => sum + bytes, 0) / first;
  return { ...usage, completionTokens: Math.round(usage.completionTokens * factor) };
}

/**
 * Adds the usage of another chunk without choices. llama.cpp sends one such chunk for each choice, with the output of that choice.
 * @param before the sum so far
 */
export function addChoiceUsage(before: JsonObject | undefined, usage: JsonObject): JsonObject {
  const [sumBefore, added] = [before?.['completion_tokens'], usage['completion_tokens']];
  if (typeof sumBefore !== 'number' || typeof added !== 'number') return usage;
  return { ...usage, completion_tokens: sumBefore + added };
}
