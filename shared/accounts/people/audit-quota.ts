import type { UserRole } from './user.ts';

/** How many entries of the audit trail somebody can fill. */
export interface AuditQuota {
  /** Stands in its name in Redis. */
  name: string;
  /** When there are more, the oldest of this quota goes. */
  maxEntries: number;
  /** Whether repeated changes of the same fields of the same thing become one entry. */
  merges: boolean;
}

/** What members do to things that are theirs alone: the first word of an action. */
const ownThings = new Set(['key', 'session', 'webhook', 'batch', 'file']);

/**
 * The quota that an entry counts against:
 *
 * | entries | kept |
 * |---|---|
 * | of administrators and of the command line; accounts made by a link that they gave out | 100,000: 250 a day for 400 days, some 100 MB |
 * | of a member, about teams and people | the last 1,000 of this member |
 * | of a member, about keys, webhooks, batches and files | the last 200 of this member |
 * | of somebody who is not signed in (refused sign-ins, of which SignInGuard reports ten an hour) | the last 1,000 |
 */
export function quotaOf({
  actor,
  action,
}: {
  actor: { id: string; role: UserRole } | null;
  action: string;
}): AuditQuota {
  if (action === 'session.refused') return { name: 'strangers', maxEntries: 1_000, merges: true };
  const isPrivileged = actor === null || actor.role === 'admin' || action === 'user.create';
  if (isPrivileged) return { name: 'privileged', maxEntries: 100_000, merges: false };
  const [about = ''] = action.split('.');
  if (ownThings.has(about)) return { name: `own:${actor.id}`, maxEntries: 200, merges: true };
  return { name: `people:${actor.id}`, maxEntries: 1_000, merges: true };
}
