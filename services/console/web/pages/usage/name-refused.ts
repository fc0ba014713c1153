import type { RefusedBy } from '../../../contract/usage.ts';

/** The id that stands for keys that are counted together. */
const others = 'other';

/** Returns whose request was refused: the key with its owner, as `laptop (Ada)`. */
export function nameRefused({ key, owner }: RefusedBy): string {
  if (!key) return 'no known key';
  if (key.id === others) return 'other keys';
  if (!owner || owner.name === key.name) return key.name;
  return `${key.name} (${owner.name})`;
}
