import type { Key, Session } from '../../../contract/account.ts';

/** What a person may do with a key that they see. */
export interface KeyRights {
  /** Change and revoke it. */
  change: boolean;
  rotate: boolean;
  /** Leave the old key valid for a while when it is rotated: for as long, there is one key more. */
  overlap: boolean;
  /** Have its requests recorded; whoever may change it may end that. */
  record: boolean;
}

/** What the API lets the signed-in person do with a key. */
export function rightsOver({ kind, owner, issued }: Key, person: Session['user']): KeyRights {
  const { id, role, teams, makesPersonalKeys } = person;
  const isOwn =
    kind === 'team'
      ? teams.some((team) => team.id === owner?.id && team.role === 'owner')
      : kind === 'user' && owner?.id === id;
  const change = role === 'admin' || isOwn;
  // Whoever rotates a key can read what it has stored. Of an issued key of a team that is its own, and not the team's.
  const mayReadStored = isOwn || kind === 'router' || (kind === 'team' && issued !== undefined);
  const record = kind === 'user' ? isOwn : change;
  return { change, rotate: change && mayReadStored, overlap: kind !== 'user' || makesPersonalKeys, record };
}
