import type { TeamRole } from '#shared/accounts/people/team-store.ts';
import type { UserRole } from '#shared/accounts/people/user.ts';
import { forbidden, notFound } from './api-failure.ts';

/** What a person is to what they act on: an administrator is that to everything; the others are its owner, members of its team, or nothing to it. */
export type Relation = 'admin' | 'self' | 'team owner' | 'team member' | 'nobody';

/** `hidden`: the person is not to know that it exists. */
export type Verdict = 'yes' | 'no' | 'hidden';

const forAdmins = { admin: 'yes', self: 'no', 'team owner': 'no', 'team member': 'no', nobody: 'no' } as const;
const forTeamOwners = {
  admin: 'yes',
  self: 'hidden',
  'team owner': 'yes',
  'team member': 'no',
  nobody: 'hidden',
} as const;
const forOwners = { ...forTeamOwners, self: 'yes' } as const;

/** Who may do what. Everything that the API does after the sign-in is asked for here, by one of these names. */
export const access = {
  'key.see': { ...forOwners, 'team member': 'yes' },
  /** Make a personal or team key. */
  'key.make': forOwners,
  'key.make.router': forAdmins,
  /** Change, rotate, revoke. */
  'key.change': forOwners,
  /** Give a key the class `high`, which goes before everybody else's. */
  'key.class.high': forAdmins,
  'user.manage': forAdmins,
  'team.see': { ...forTeamOwners, 'team member': 'yes' },
  'team.make': forAdmins,
  'team.rename': forTeamOwners,
  'team.limit': { ...forAdmins, nobody: 'hidden' },
  'team.delete': { ...forAdmins, nobody: 'hidden' },
  'team.members': forTeamOwners,
  'invitation.manage': forAdmins,
  'audit.read': forAdmins,
  'settings.manage': forAdmins,
} as const satisfies Record<string, Record<Relation, Verdict>>;

export type Action = keyof typeof access;

/** Who asks, as far as access goes. */
export interface Person {
  id: string;
  role: UserRole;
  teams: ReadonlyMap<string, TeamRole>;
}

/** What a person is to something that belongs to a person, to a team, or (undefined) to nobody. */
export function relationTo(person: Person, owner?: { kind: 'user' | 'team'; id: string }): Relation {
  if (person.role === 'admin') return 'admin';
  if (owner?.kind === 'user') return owner.id === person.id ? 'self' : 'nobody';
  const role = owner && person.teams.get(owner.id);
  if (role === undefined) return 'nobody';
  return role === 'owner' ? 'team owner' : 'team member';
}

/** Lets pass who may do this. @throws ApiFailure 403, or 404 to whom it is hidden */
export function requireAccess(action: Action, person: Person, owner?: { kind: 'user' | 'team'; id: string }): void {
  const verdict: Verdict = access[action][relationTo(person, owner)];
  if (verdict === 'hidden') throw notFound();
  if (verdict === 'no') throw forbidden();
}
