import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { AuditEntry } from '#shared/accounts/people/audit-trail.ts';

/** Kinds of things that people give names to, and that do not outlive them. */
const namedKinds = new Set(['key', 'token', 'file']);

/**
 * Whose the targets of entries are: the id of a person, deleted or not, or undefined for what is a team's, the router's or nobody's. The details
 * of an entry say it; of a key also its record. Where neither is there, it counts as the actor's. All keys are asked for at once.
 * @throws RouterError `store_unavailable`
 */
export async function findTargetOwners(
  keys: Pick<KeyStore, 'ownersOf'>,
  entries: readonly AuditEntry[],
): Promise<(entry: AuditEntry) => string | undefined> {
  const asked = entries.flatMap((entry) => (statedOwner(entry) ? [] : (keyOf(entry) ?? [])));
  const owners = await keys.ownersOf([...new Set(asked)]);
  return (entry) => {
    const { target, actor } = entry;
    if (!target || target.kind === 'user') return target?.id;
    if (!namedKinds.has(target.kind)) return undefined;
    const owner = statedOwner(entry) ?? owners.get(keyOf(entry) ?? '');
    if (!owner) return actor?.id;
    return owner.kind === 'user' ? owner.ownerId : undefined;
  };
}

/** What the details of an entry say of the owner; undefined where that is nothing, or that it is a key. */
function statedOwner({ target, details }: AuditEntry): { kind: unknown; ownerId: string | undefined } | undefined {
  const { kind, ownerId } = details;
  const id = typeof ownerId === 'string' ? ownerId : undefined;
  if (target?.kind === 'token') return ownerId === undefined ? undefined : { kind: 'user', ownerId: id };
  if (kind === 'router') return { kind, ownerId: undefined };
  return id !== undefined && (kind === 'user' || kind === 'team') ? { kind, ownerId: id } : undefined;
}

/** The key that is the target of an entry, or that the target belongs to. */
function keyOf({ target, details: { kind, ownerId } }: AuditEntry): string | undefined {
  if (target?.kind === 'key') return target.id;
  return target?.kind === 'file' && kind === 'key' && typeof ownerId === 'string' ? ownerId : undefined;
}
