import type { Key, SignInSession } from '../../../contract/account.ts';

export interface KeyRights {
  change: boolean;
  rotate: boolean;
  /** Leave the old key valid for a while after a rotation. For that time, the owner has one more key. */
  overlap: boolean;
  /** Switch on the recording of the key's requests. Whoever may change the key may switch the recording off. */
  record: boolean;
}

/** Returns which actions on a key the API allows the signed-in person. */
export function findKeyRights({ kind, owner, issued }: Key, person: SignInSession['user']): KeyRights {
  const { id, role, teams, makesPersonalKeys } = person;
  const isOwnKey =
    kind === 'team'
      ? teams.some((team) => team.id === owner?.id && team.role === 'owner')
      : kind === 'user' && owner?.id === id;
  const change = role === 'admin' || isOwnKey;
  // Whoever rotates a key can read what the key has stored. What an issued key of a team stores belongs to the key, not to the team.
  const mayReadStored = isOwnKey || kind === 'router' || (kind === 'team' && issued !== undefined);
  const record = kind === 'user' ? isOwnKey : change;
  return { change, rotate: change && mayReadStored, overlap: kind !== 'user' || makesPersonalKeys, record };
}
