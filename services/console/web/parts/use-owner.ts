import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Key } from '../../contract/keys.ts';
import type { Team, User } from '../../contract/people.ts';
import { useIsAdmin, useSession } from '../api/session.ts';
import { useApi } from '../api/use-api.ts';

export interface OwnerGroup {
  group: string;
  items: { value: string; label: string }[];
}

export interface OwnerChoice {
  /** For example `user:0123456789ab`. */
  owner: string;
  isSelf: boolean;
  /** Whether another owner can be chosen. */
  mayChoose: boolean;
  choices: OwnerGroup[];
  choose: (owner: string) => void;
  chooseSelf: () => void;
  /** Must be called when the list of choices opens. Loads the choices of an administrator. */
  onOpen: () => void;
}

/**
 * Returns the owner of the data on a page, and the functions to choose another owner. People can choose themselves and their teams.
 * Administrators can choose anybody. The choice is kept in the URL, so that a view can be shared.
 * @param initial the owner while none is chosen; default: the person
 */
export function useOwner(initial?: string): OwnerChoice {
  const { user } = useSession();
  const isAdmin = useIsAdmin();
  const [search, setSearch] = useSearchParams();
  const [isOpened, setOpened] = useState(false);
  const self = `user:${user.id}`;
  const firstOwner = initial ?? self;
  const owner = search.get('of') ?? firstOwner;
  // The names of other owners are needed only when the list opens or another owner is chosen.
  const enabled = isAdmin && (isOpened || ![self, initial].includes(owner));
  const people = useApi<User[]>('/users', { enabled });
  const teams = useApi<Team[]>('/teams', { enabled });
  const keys = useApi<Key[]>('/keys', { enabled });
  const everybody: OwnerGroup[] = [
    { group: 'Teams', items: (teams.data ?? []).map(({ id, name }) => ({ value: `team:${id}`, label: name })) },
    {
      group: 'People',
      items: (people.data ?? []).flatMap(({ id, name, email }) =>
        id === user.id ? [] : [{ value: `user:${id}`, label: `${name} (${email})` }],
      ),
    },
    {
      group: 'Router keys',
      items: (keys.data ?? []).flatMap(({ id, kind, name }) =>
        kind === 'router' ? [{ value: `key:${id}`, label: name }] : [],
      ),
    },
  ];
  const ownTeams = user.teams.map(({ id, name }) => ({ value: `team:${id}`, label: name }));
  const groups = [
    { group: 'You', items: [{ value: self, label: 'Your own' }] },
    ...(isAdmin ? everybody : [{ group: 'Teams', items: ownTeams }]),
  ];
  // Each choice is an entry of the browser's history, so that Back undoes it.
  const choose = (chosen: string): void => {
    if (chosen !== owner) setSearch(chosen === firstOwner ? {} : { of: chosen });
  };
  return {
    owner,
    isSelf: owner === self,
    mayChoose: isAdmin || ownTeams.length > 0,
    choices: groups.filter(({ items }) => items.length > 0),
    choose,
    chooseSelf: () => choose(self),
    onOpen: () => setOpened(true),
  };
}
