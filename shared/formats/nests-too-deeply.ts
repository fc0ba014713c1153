import type { Json } from '#shared/core/json.ts';

/**
 * Levels of arrays and objects within each other that a JSON value may have. Far more than any request needs, and far
 * fewer than fill the stack of `JSON.stringify`, which calls itself for each level while `JSON.parse` does not.
 */
const mostLevels = 500;

/** Whether a JSON value has more levels than can be written again. */
export function nestsTooDeeply(value: Json | undefined, levels = mostLevels): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (nestsTooDeeply(inner, levels - 1)) return true;
  }
  return false;
}
