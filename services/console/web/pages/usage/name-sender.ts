import type { RefusedBy } from '../../../contract/refusals.ts';

/** The id that stands for keys that are counted together. */
const otherKeysId = 'other';

/** Returns who sent a refused request, by the names of the key and its owner, for example `laptop (Ada)`. */
export function nameSender({ key, owner }: RefusedBy): string {
  if (!key) return 'no known key';
  if (key.id === otherKeysId) return 'other keys';
  if (!owner || owner.name === key.name) return key.name;
  return `${key.name} (${owner.name})`;
}
