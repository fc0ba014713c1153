import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';

/**
 * Returns the usage of a whole answer with several choices. llama.cpp counts the output of the first choice only, which is recognized by
 * the `timings` in its answer. The output of the other choices is then estimated from the length of their texts.
 * @param usage as the upstream reports it
 * @param texts functions that return all that the model wrote in each choice
 */
export function completeChoiceUsage(
  usage: Usage | undefined,
  { timings }: JsonObject,
  texts: readonly (() => string)[],
): Usage | undefined {
  if (!usage || texts.length < 2 || !isJsonObject(timings) || timings['predicted_n'] !== usage.completionTokens)
    return usage;
  const [first = 0, ...others] = texts.map((written) => Buffer.byteLength(written()));
  const factor = first === 0 ? texts.length : 1 + others.reduce((sum, bytes) => sum + bytes, 0) / first;
  return { ...usage, completionTokens: Math.round(usage.completionTokens * factor) };
}

/**
 * Adds the usage of a further chunk without choices. llama.cpp sends one such chunk per choice, with the output of that choice.
 * @param before the sum so far
 */
export function addChoiceUsage(before: JsonObject | undefined, usage: JsonObject): JsonObject {
  const [earlier, own] = [before?.['completion_tokens'], usage['completion_tokens']];
  if (typeof earlier !== 'number' || typeof own !== 'number') return usage;
  return { ...usage, completion_tokens: earlier + own };
}
