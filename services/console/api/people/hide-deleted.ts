import type { AuditEntry } from '#shared/accounts/people/audit-trail.ts';
import { deletedName } from '#shared/accounts/people/delete-person.ts';
import type { UserStore } from '#shared/accounts/people/user-store.ts';

/** Entries of the audit trail without what they say of people who are deleted: their ids stay, and a pseudonym stands for the name. */
export async function hideDeleted(
  users: Pick<UserStore, 'namesOf'>,
  entries: readonly AuditEntry[],
): Promise<AuditEntry[]> {
  const ids = new Set(entries.flatMap((entry) => peopleOf(entry)));
  const names = await users.namesOf([...ids]);
  // Admin tokens that belong to nobody are no people.
  const isGone = (id: string): boolean => !names.has(id) && !id.startsWith('token:');
  return entries.map((entry) => {
    const { actor, target, details } = entry;
    const member = memberOf(details);
    const isTargetGone = target?.kind === 'user' && isGone(target.id);
    const { from, ...kept } = entry;
    return {
      ...kept,
      // The address of somebody who is gone goes with the name.
      ...(from && !(actor && isGone(actor.id)) && { from }),
      actor: actor && isGone(actor.id) ? { ...actor, name: deletedName(actor.id) } : actor,
      target: target && isTargetGone ? { ...target, name: deletedName(target.id) } : target,
      // Old and new addresses and names.
      details: isTargetGone
        ? {}
        : member && isGone(member.id)
          ? { ...details, user: { id: member.id, name: deletedName(member.id) } }
          : details,
    };
  });
}

function peopleOf({ actor, target, details }: AuditEntry): string[] {
  const member = memberOf(details);
  return [actor?.id, target?.kind === 'user' ? target.id : undefined, member?.id].filter((id) => id !== undefined);
}

/** Whose membership in a team was changed. */
function memberOf({ user }: AuditEntry['details']): { id: string } | undefined {
  if (typeof user !== 'object' || user === null || !('id' in user)) return undefined;
  return { id: String(user.id) };
}
