import { RouterError } from '#shared/core/errors.ts';
import { type Json, type JsonObject, isJsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';

/** Returns the number of choices that a request asks for, as the field `n`, for `Translation.recall`. */
export function readChoiceCount({ n }: JsonObject): { n: number } {
  return { n: typeof n === 'number' ? n : 1 };
}

/**
 * Returns the number of choices that the client requested.
 * @param recalled fields of the request, see `AnswerContext.recalled`
 */
export function countRequestedChoices(recalled: JsonObject | undefined): number {
  const n = recalled?.['n'];
  return typeof n === 'number' ? n : 1;
}

/**
 * Returns the index of an upstream's choice in the client's answer. A single choice has the index 0, whatever the upstream sends.
 * @param value the index that the upstream sent
 * @param position the index if the upstream sent none
 * @throws RouterError `upstream_failed` for an index out of range
 */
export function toChoiceIndex(value: Json | undefined, choiceCount: number, position: number): number {
  if (choiceCount === 1) return 0;
  const index = value ?? position;
  if (typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < choiceCount) return index;
  throw new RouterError('upstream_failed', 'The upstream sent a choice that was not asked for.');
}

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
