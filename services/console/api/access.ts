import type { TeamRole } from '#shared/accounts/people/team-store.ts';
import type { UserRole } from '#shared/accounts/people/user.ts';
import { forbidden, notFound } from './api-failure.ts';

/** A person's relation to a resource: administrators are `admin` to everything; others own it, are in its team, or `nobody`. */
export type Relation = 'admin' | 'self' | 'team owner' | 'team member' | 'nobody';

/** `hidden`: the person must not learn that the resource exists. */
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

/** Who may do what. The API checks every action of a signed-in person against one of these rows. */
export const access = {
  'key.see': { ...forOwners, 'team member': 'yes' },
  /** Make a personal or team key. */
  'key.make': forOwners,
  'key.make.router': forAdmins,
  /** Change, rotate, revoke. */
  'key.change': forOwners,
  /** Give a key the class `high`, which is served before all others, where the ceiling of its owner does not. */
  'key.class.high': forAdmins,
  /** Switch the recording of a key's requests on; that of a personal key has a rule of its own, see `requireSwitch`. */
  'key.record': forTeamOwners,
  'user.manage': forAdmins,
  'team.see': { ...forTeamOwners, 'team member': 'yes' },
  'team.make': forAdmins,
  /** Its name too: files for `rtr apply`, rules of providers and settings know a team by it. */
  'team.change': { ...forAdmins, nobody: 'hidden' },
  /** Switch the recording of the requests of its keys. */
  'team.record': forTeamOwners,
  'team.delete': { ...forAdmins, nobody: 'hidden' },
  'team.members': forTeamOwners,
  'invitation.manage': forAdmins,
  /** See, make and change webhooks of a person, a team, or the router, which belong to nobody. */
  'webhook.manage': forOwners,
  'webhook.make.router': forAdmins,
  'batch.see': { ...forOwners, 'team member': 'yes' },
  'batch.cancel': forOwners,
  'file.see': { ...forOwners, 'team member': 'yes' },
  /** Read what is in a file: for its owner alone, as requests are. An administrator counts as the owner of what is theirs. */
  'file.read': { ...forOwners, admin: 'no' },
  'file.delete': forOwners,
  /** See the queues of background work, and all batches that are not over. */
  'background.see': forAdmins,
  /** Have background work tried again. */
  'background.repeat': forAdmins,
  /** Drain and undrain workers. */
  'worker.steer': forAdmins,
  /** See, make and revoke the credentials with which workers connect to NATS. */
  'credential.manage': forAdmins,
  /** See the registry and its versions. */
  'registry.see': forAdmins,
  'registry.change': forAdmins,
  'price.change': forAdmins,
  /** See, make and revoke admin tokens. */
  'token.manage': { ...forOwners, 'team owner': 'hidden', 'team member': 'hidden' },
  'audit.read': forAdmins,
  'settings.manage': forAdmins,
} as const satisfies Record<string, Record<Relation, Verdict>>;

export type Action = keyof typeof access;

/** The facts about a person that access depends on. */
export interface Person {
  id: string;
  role: UserRole;
  teams: ReadonlyMap<string, TeamRole>;
}

/** A person's relation to a resource of a person, of a team, or (undefined) of nobody. */
export function relationTo(person: Person, owner?: { kind: 'user' | 'team'; id: string }): Relation {
  if (person.role === 'admin') return 'admin';
  if (owner?.kind === 'user') return owner.id === person.id ? 'self' : 'nobody';
  const role = owner && person.teams.get(owner.id);
  if (role === undefined) return 'nobody';
  return role === 'owner' ? 'team owner' : 'team member';
}

/** Whether a person may do this. */
export function mayDo(action: Action, person: Person, owner?: { kind: 'user' | 'team'; id: string }): boolean {
  const verdict: Verdict = access[action][relationTo(person, owner)];
  return verdict === 'yes';
}

/** Checks that a person may do this. @throws ApiFailure 403, or 404 where the resource is hidden from them */
export function requireAccess(action: Action, person: Person, owner?: { kind: 'user' | 'team'; id: string }): void {
  const verdict: Verdict = access[action][relationTo(person, owner)];
  if (verdict === 'hidden') throw notFound();
  if (verdict === 'no') throw forbidden();
}
