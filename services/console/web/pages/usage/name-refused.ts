import type { RefusedBy } from '../../../contract/refusals.ts';

/** The id that stands for keys that are counted together. */
const others = 'other';

/** Returns the names of the key and the owner whose request was refused, for example `laptop (Ada)`. */
export function nameRefused({ key, owner }: RefusedBy): string {
  if (!key) return 'no known key';
  if (key.id === others) return 'other keys';
  if (!owner || owner.name === key.name) return key.name;
  return `${key.name} (${owner.name})`;
}
