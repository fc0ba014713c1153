import type { UserRole } from './user.ts';

/** A bound for the number of entries of one source in the audit trail. */
export interface AuditQuota {
  /** Part of the quota's name in Redis. */
  name: string;
  /** If the quota has more entries than this, its oldest entry is removed. */
  maxEntries: number;
  /** Whether repeated changes of the same fields of the same thing become one entry. */
  merges: boolean;
}

/** The first words of actions that change teams or invitations, which are nobody's own. */
const sharedThings = new Set(['team', 'invitation']);

/**
 * Returns the quota against which an entry counts. A member can make any number of things of their own, so entries about these things
 * displace only each other. All other actions are recognised first, so that a new kind of thing counts as the member's own.
 *
 * | entries | kept | |---|---| | of administrators and of the command line; accounts made by a link that they gave out | 100,000: 250 a day
 * for 400 days, some 100 MB | | of a member, about teams and other people | the last 1,000 of this member | | of a member, about keys,
 * webhooks, batches and files of a team | the last 200 of this member | | of a member, about their own account | the last 200 of this
 * member | | of a member, about other things of theirs: keys, tokens, programs, webhooks, batches, files, sessions | the last 200 of this
 * member | | of somebody who is not signed in (refused sign-ins, of which SignInGuard reports ten an hour) | the last 1,000 |
 */
export function chooseQuota({ actor, action, target, ofTeam = false }: QuotaInput): AuditQuota {
  if (action === 'session.refused') return { name: 'strangers', maxEntries: 1_000, merges: true };
  const isPrivileged = actor === null || actor.role === 'admin' || action === 'user.create';
  if (isPrivileged) return { name: 'privileged', maxEntries: 100_000, merges: false };
  const [subject = ''] = action.split('.');
  const isAboutOther = target?.kind === 'user' && target.id !== actor.id;
  if (sharedThings.has(subject) || isAboutOther) return { name: `people:${actor.id}`, maxEntries: 1_000, merges: true };
  const name = ofTeam ? 'of-teams' : subject === 'user' ? 'self' : 'own';
  return { name: `${name}:${actor.id}`, maxEntries: 200, merges: true };
}

interface QuotaInput {
  actor: { id: string; role: UserRole } | null;
  action: string;
  target: { kind: string; id: string } | null;
  ofTeam?: boolean | undefined;
}
