import { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';

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
