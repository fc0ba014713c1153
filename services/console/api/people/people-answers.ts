import type { Accounts } from '#shared/accounts/accounts.ts';
import type { TeamRecord } from '#shared/accounts/people/team-store.ts';
import type { Team, User } from '../../contract/people.ts';
import { toStateAnswer } from '../recordings/recording-state.ts';
import type { Ceiling } from '#shared/accounts/people/ceiling.ts';
import { hasConfirmedEmail, isRefused, type UserRecord } from '#shared/accounts/people/user.ts';

/**
 * Converts a team with its members into the API's answer.
 * @param isRecording whether this router records requests
 */
export async function toTeamAnswer(
  { teams, users }: Pick<Accounts, 'teams' | 'users'>,
  { id, name, limits = {}, weight = 1, ceiling, records, createdAt }: TeamRecord,
  isRecording: boolean,
): Promise<Team> {
  const roles = await teams.membersOf(id);
  const members = await users.findAll([...roles.keys()]);
  const names = records ? await users.readNames([records.by]) : new Map<string, string>();
  return {
    id,
    name,
    limits,
    weight,
    ceiling: toCeilingAnswer(ceiling),
    records: Boolean(records),
    ...(records && isRecording && { recording: toStateAnswer({ ...records, of: 'team' }, names) }),
    createdAt,
    members: members.map((user) => ({
      id: user.id,
      name: user.name,
      email: user.email,
      role: roles.get(user.id) ?? 'member',
    })),
  };
}

/** Returns a ceiling without its undefined fields. */
export function toCeilingAnswer({ models, tiers, maxClass }: Ceiling = {}): User['ceiling'] {
  return {
    ...(models === undefined ? {} : { models }),
    ...(tiers === undefined ? {} : { tiers }),
    ...(maxClass === undefined ? {} : { maxClass }),
  };
}

/**
 * Converts a person into the API's answer for administrators.
 * @param provider the identity provider of the person's linked account, if there is one
 */
export function toUserAnswer(user: UserRecord, provider: string | undefined): User {
  const { id, name, email, role, blockedAt, createdAt, lastSeenAt, limits = {}, weight = 1, ceiling } = user;
  return {
    id,
    name,
    email,
    emailConfirmed: hasConfirmedEmail(user),
    role,
    blocked: blockedAt !== undefined,
    ...(isRefused(user) && { refusedByProvider: true }),
    limits,
    weight,
    ceiling: toCeilingAnswer(ceiling),
    createdAt,
    ...(lastSeenAt === undefined ? {} : { lastSeenAt }),
    ...(provider === undefined ? {} : { provider }),
  };
}
