import type { Key } from '../../../contract/keys.ts';
import type { SignInSession } from '../../../contract/sign-in.ts';

export interface KeyRights {
  change: boolean;
  rotate: boolean;
  /** Whether the old key may stay valid for a while after a rotation. During that time, the owner has an additional key. */
  overlap: boolean;
  /** Whether the person may switch on the recording of the key's requests. Everyone who may change the key may switch recording off. */
  record: boolean;
}

/** Returns the actions on a key that the API allows the signed-in person. */
export function findKeyRights({ kind, owner, issued }: Key, person: SignInSession['user']): KeyRights {
  const { id, role, teams, makesPersonalKeys } = person;
  const isOwnKey =
    kind === 'team'
      ? teams.some((team) => team.id === owner?.id && team.role === 'owner')
      : kind === 'user' && owner?.id === id;
  const change = role === 'admin' || isOwnKey;
  // A person who rotates a key can read the data of the key's owner. The data of an issued key of a team belongs to the key, not to the
  // team.
  const mayReadStored = isOwnKey || kind === 'router' || (kind === 'team' && issued !== undefined);
  const record = kind === 'user' ? isOwnKey : change;
  return { change, rotate: change && mayReadStored, overlap: kind !== 'user' || makesPersonalKeys, record };
}
