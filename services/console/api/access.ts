import type { TeamRole } from '#shared/accounts/people/team-store.ts';
import type { UserRole } from '#shared/accounts/people/user.ts';
import { forbidden, notFound } from './api-failure.ts';

/**
 * The relation of a person to a resource. Administrators are `admin` to every resource. Other people are `self` to what they own,
 * `team owner` or `team member` to what one of their teams owns, and `nobody` to everything else.
 */
export type Relation = 'admin' | 'self' | 'team owner' | 'team member' | 'nobody';

/**
 * Whether a person may do an action. `hidden`: no, and the answer is 404, so that the person does not learn whether the resource exists.
 */
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

/** The access rules, one row for each action. The API checks every action of a signed-in person against its row. */
export const access = {
  'key.see': { ...forOwners, 'team member': 'yes' },
  'key.make': forOwners,
  'key.make.router': forAdmins,
  /** Change, rotate or revoke a key. */
  'key.change': forOwners,
  /** Give a key the class `high`, which is served before all others, even if the ceiling of the key's owner does not allow `high`. */
  'key.class.high': forAdmins,
  /** Switch on the recording of a key's requests. For a personal key, `requireMayRecord` permits this only to the key's person. */
  'key.record': forTeamOwners,
  'user.manage': forAdmins,
  'team.see': { ...forTeamOwners, 'team member': 'yes' },
  'team.make': forAdmins,
  /**
   * Change a team, including its name. This is for administrators, because files for `rtr apply`, sign-in rules and settings refer to a
   * team by its name.
   */
  'team.change': { ...forAdmins, nobody: 'hidden' },
  /** Switch on the recording of the requests of a team's keys. */
  'team.record': forTeamOwners,
  'team.delete': { ...forAdmins, nobody: 'hidden' },
  'team.members': forTeamOwners,
  'invitation.manage': forAdmins,
  /** See, make and change the webhooks of a person, of a team, or of the router (which belong to nobody). */
  'webhook.manage': forOwners,
  'webhook.make.router': forAdmins,
  'batch.see': { ...forOwners, 'team member': 'yes' },
  'batch.cancel': forOwners,
  'file.see': { ...forOwners, 'team member': 'yes' },
  /**
   * Read the content of a file. This is for the file's owner, just as a request is for its sender. `asMemberIfOwner` lets administrators
   * read their own files.
   */
  'file.read': { ...forOwners, admin: 'no' },
  'file.delete': forOwners,
  /** See the queues of background work, and all batches that have not ended. */
  'background.see': forAdmins,
  /** Retry a failed job of background work before its next try is due. */
  'background.repeat': forAdmins,
  'worker.steer': forAdmins,
  /** See, make and revoke the credentials with which workers connect to NATS. */
  'credential.manage': forAdmins,
  'registry.see': forAdmins,
  'registry.change': forAdmins,
  'price.change': forAdmins,
  'token.manage': { ...forOwners, 'team owner': 'hidden', 'team member': 'hidden' },
  'audit.read': forAdmins,
  'settings.manage': forAdmins,
} as const satisfies Record<string, Record<Relation, Verdict>>;

export type Action = keyof typeof access;

/** The person or team that owns a resource. */
export interface ResourceOwner {
  kind: 'user' | 'team';
  id: string;
}

/** The fields of a person that the access rules read. */
export interface Person {
  id: string;
  role: UserRole;
  teams: ReadonlyMap<string, TeamRole>;
}

/**
 * Returns the relation of a person to a resource.
 * @param owner undefined if the resource belongs to no person or team
 */
export function findRelation(person: Person, owner?: ResourceOwner): Relation {
  if (person.role === 'admin') return 'admin';
  if (owner?.kind === 'user') return owner.id === person.id ? 'self' : 'nobody';
  const role = owner && person.teams.get(owner.id);
  if (role === undefined) return 'nobody';
  return role === 'owner' ? 'team owner' : 'team member';
}

/** Returns true if a person may do an action, and false if the access rules say `no` or `hidden`. */
export function mayDo(action: Action, person: Person, owner?: ResourceOwner): boolean {
  const verdict: Verdict = access[action][findRelation(person, owner)];
  return verdict === 'yes';
}

/**
 * Refuses an action that the person may not do.
 * @throws ApiFailure 403, or 404 if the resource is hidden from the person
 */
export function requireAccess(action: Action, person: Person, owner?: ResourceOwner): void {
  const verdict: Verdict = access[action][findRelation(person, owner)];
  if (verdict === 'hidden') throw notFound();
  if (verdict === 'no') throw forbidden();
}
