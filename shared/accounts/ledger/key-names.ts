import { totalsKeptMs } from '../periods.ts';

/** The script with the functions that store names of keys. It is prepended to scripts that call them. */
export const keyNamesScript = new URL('lua/key-names.lua', import.meta.url);

/** Maximum number of names of keys that are kept. */
const maxKeyNames = 200_000;

/**
 * Returns the bounds of names that are written now, in the form for the scripts. After the last use of a key, its name is kept as long as
 * monthly totals are kept.
 */
export function toKeyNameBounds(maxNames = maxKeyNames) {
  const now = Date.now();
  return { at: now, oldest: now - totalsKeptMs.month, maxNames };
}
