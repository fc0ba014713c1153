import type { RefusedBy } from '../../../contract/refusals.ts';

/** Id that stands for all keys that are counted together. */
const otherKeysId = 'other';

/** Names the sender of a refused request by key and owner, for example `laptop (Ada)`. */
export function nameSender({ key, owner }: RefusedBy): string {
  if (!key) return 'no known key';
  if (key.id === otherKeysId) return 'other keys';
  if (!owner || owner.name === key.name) return key.name;
  return `${key.name} (${owner.name})`;
}
