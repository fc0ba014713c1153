import { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';

/** What of a request decides how many choices its answer has, for `Translation.recall`. */
export function recallChoices({ n }: JsonObject): { n: number } {
  return { n: typeof n === 'number' ? n : 1 };
}

/**
 * How many choices were asked for.
 * @param recalled see `Minted.recalled`
 */
export function askedChoices(recalled: JsonObject | undefined): number {
  const n = recalled?.['n'];
  return typeof n === 'number' ? n : 1;
}

/**
 * The index of an upstream's choice in the client's answer. Of a single choice it is 0, whatever the upstream says.
 * @param position what stands for an index that is missing
 * @throws RouterError `upstream_failed` for an index that no asked choice has
 */
export function choiceIndex(given: Json | undefined, asked: number, position: number): number {
  if (asked === 1) return 0;
  const index = given ?? position;
  if (typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < asked) return index;
  throw new RouterError('upstream_failed', 'The upstream sent a choice that was not asked for.');
}
