import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { AuditEntry } from '#shared/accounts/people/audit-trail.ts';
import { deletedName } from '#shared/accounts/people/delete-person.ts';
import type { UserStore } from '#shared/accounts/people/user-store.ts';
import { findTargetOwners } from './find-target-owners.ts';

type Details = AuditEntry['details'];

/**
 * Removes everything about deleted people except their ids from audit entries. A pseudonym replaces the names of these people, and the
 * names that they gave their keys, tokens and files.
 */
export async function hideDeleted(
  { users, keys }: { users: Pick<UserStore, 'readNames'>; keys: Pick<KeyStore, 'readOwners'> },
  entries: readonly AuditEntry[],
): Promise<AuditEntry[]> {
  const ownerOf = await findTargetOwners(keys, entries);
  const ids = entries.flatMap((entry) => [entry.actor?.id, ownerOf(entry), findMember(entry.details)?.id]);
  const names = await users.readNames([...new Set(ids.filter((id) => id !== undefined))]);
  // The ids of admin tokens that belong to nobody are not ids of people.
  const isDeleted = (id: string): boolean => !names.has(id) && !id.startsWith('token:');
  return entries.map((entry) => {
    const { actor, target, details } = entry;
    const member = findMember(details);
    const owner = ownerOf(entry);
    const pseudonym = owner !== undefined && isDeleted(owner) ? deletedName(owner) : undefined;
    const { from, ...others } = entry;
    return {
      ...others,
      // The network address of a deleted person is removed with the name.
      ...(from && !(actor && isDeleted(actor.id)) && { from }),
      actor: actor && isDeleted(actor.id) ? { ...actor, name: deletedName(actor.id) } : actor,
      target: target && pseudonym !== undefined ? { ...target, name: pseudonym } : target,
      details:
        pseudonym !== undefined
          ? // The details of a change to a person contain their old and new addresses and names.
            target?.kind === 'user'
            ? {}
            : replaceNames(details, pseudonym)
          : member && isDeleted(member.id)
            ? { ...details, user: { id: member.id, name: deletedName(member.id) } }
            : details,
    };
  });
}

/** Returns the details of an entry with every name replaced. */
function replaceNames(details: Details, name: string): Details {
  const rename = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'name' in value ? { ...value, name } : value;
  const { before, after, between } = details;
  return {
    ...details,
    ...(before !== undefined && { before: rename(before) }),
    ...(after !== undefined && { after: rename(after) }),
    ...(Array.isArray(between) && { between: between.map(rename) }),
  };
}

/** Returns the person in the details of a change to a team's members. */
function findMember({ user }: Details): { id: string } | undefined {
  if (typeof user !== 'object' || user === null || !('id' in user)) return undefined;
  return { id: String(user.id) };
}
