import { measure, type LimitName } from './measures.ts';
import type { PartyUse } from './party-use.ts';

/** What is left of a limit, in requests or tokens. Times in ms since 1970. */
export interface Left {
  limit: number;
  remaining: number;
  resetsAt: number;
}

/** Of some limits of all parties, the one of which least is left; undefined when there is none of them. */
export function tightest(uses: readonly PartyUse[], names: readonly LimitName[]): Left | undefined {
  let least: Left | undefined;
  for (const use of uses) {
    for (const name of names) {
      const measured = measure(name, use, { tokens: 0, cost: 0 });
      if (!measured) continue;
      const { limit, spent, reserved, unit, resetsAt = use.at } = measured;
      const remaining = Math.max(0, Math.floor((limit - spent - reserved) / unit));
      if (!least || remaining < least.remaining) least = { limit: limit / unit, remaining, resetsAt };
    }
  }
  return least;
}
