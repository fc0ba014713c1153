import { totalsKeptMs } from '../periods.ts';

/** The functions by which scripts store names of keys. They stand before those scripts. */
export const keyNamesScript = new URL('lua/key-names.lua', import.meta.url);

/** Maximum of names of keys that are kept. */
const maxKeyNames = 200_000;

/** Returns the bounds of names that are written now, in the form for the scripts. A name is kept as long as any totals of its last use. */
export function toKeyNameBounds(most = maxKeyNames) {
  const at = Date.now();
  return { at, oldest: at - totalsKeptMs.month, most };
}
