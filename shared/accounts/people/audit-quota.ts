import type { UserRole } from './user.ts';

/** A bound for the number of entries of one source in the audit trail. */
export interface AuditQuota {
  /** Part of the quota's name in Redis. */
  name: string;
  /** If the quota has more entries than this, its oldest entry is removed. */
  maxEntries: number;
  /** Whether repeated changes of the same fields of the same thing are merged into one entry. */
  merges: boolean;
}

/** The first words of actions on things that are no member's own. */
const sharedThings = new Set(['team', 'invitation']);

/**
 * Returns the quota against which an entry counts. A member can make any number of things of their own, so entries about these things
 * displace only each other. All other actions are recognised first, so that a new kind of thing counts as the member's own. The quotas:
 *
 * - `privileged`: the last 100,000 entries of administrators and of the command line, and of accounts made by a link that they gave out.
 *   That is 250 entries a day for 400 days, some 100 MB.
 * - `people`: the last 1,000 entries of a member about teams and other people.
 * - `of-teams`: the last 200 entries of a member about keys, webhooks, batches and files of a team.
 * - `self`: the last 200 entries of a member about their own account.
 * - `own`: the last 200 entries of a member about other things of theirs: keys, tokens, programs, webhooks, batches, files, sessions.
 * - `strangers`: the last 1,000 entries of people who are not signed in. These are refused sign-ins, of which SignInGuard reports ten an
 *   hour.
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
