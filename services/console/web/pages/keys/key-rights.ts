import type { Key, SignInSession } from '../../../contract/account.ts';

export interface KeyRights {
  change: boolean;
  rotate: boolean;
  /** Leave the old key valid for a while when it is rotated. The owner then has one key more for that time. */
  overlap: boolean;
  /** Switch on the recording of its requests. Whoever may change the key may switch it off. */
  record: boolean;
}

/** Returns the actions on a key that the API allows the signed-in person. */
export function keyRightsOf({ kind, owner, issued }: Key, person: SignInSession['user']): KeyRights {
  const { id, role, teams, makesPersonalKeys } = person;
  const isOwn =
    kind === 'team'
      ? teams.some((team) => team.id === owner?.id && team.role === 'owner')
      : kind === 'user' && owner?.id === id;
  const change = role === 'admin' || isOwn;
  // Whoever rotates a key can read what it has stored. What an issued key of a team stores belongs to the key, not to the team.
  const mayReadStored = isOwn || kind === 'router' || (kind === 'team' && issued !== undefined);
  const record = kind === 'user' ? isOwn : change;
  return { change, rotate: change && mayReadStored, overlap: kind !== 'user' || makesPersonalKeys, record };
}
