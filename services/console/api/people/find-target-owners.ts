import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { AuditEntry } from '#shared/accounts/people/audit-trail.ts';

/** The kinds of targets that people name, and that are deleted together with their person. */
const namedKinds = new Set(['key', 'token', 'file']);

/**
 * Finds the owners of the targets of audit entries. The returned function gives the id of a person, deleted or not, or undefined for a
 * target that belongs to a team, the router or nobody. The owner is in the details of an entry or, for a key, in the key's record. If
 * neither names an owner, the target counts as the actor's. One call to Redis looks up all keys.
 * @throws RouterError `store_unavailable`
 */
export async function findTargetOwners(
  keys: Pick<KeyStore, 'readOwners'>,
  entries: readonly AuditEntry[],
): Promise<(entry: AuditEntry) => string | undefined> {
  const keyIds = entries.flatMap((entry) => (readStatedOwner(entry) ? [] : (findKeyId(entry) ?? [])));
  const owners = await keys.readOwners([...new Set(keyIds)]);
  return (entry) => {
    const { target, actor } = entry;
    if (!target || target.kind === 'user') return target?.id;
    if (!namedKinds.has(target.kind)) return undefined;
    const owner = readStatedOwner(entry) ?? owners.get(findKeyId(entry) ?? '');
    if (!owner) return actor?.id;
    return owner.kind === 'user' ? owner.ownerId : undefined;
  };
}

/** Returns the owner that the details of an entry state. Returns undefined if they state no owner, or if the owner is a key. */
function readStatedOwner({ target, details }: AuditEntry): { kind: unknown; ownerId: string | undefined } | undefined {
  const { kind, ownerId } = details;
  const id = typeof ownerId === 'string' ? ownerId : undefined;
  if (target?.kind === 'token') return ownerId === undefined ? undefined : { kind: 'user', ownerId: id };
  if (kind === 'router') return { kind, ownerId: undefined };
  return id !== undefined && (kind === 'user' || kind === 'team') ? { kind, ownerId: id } : undefined;
}

/** Returns the id of the key that is the target of an entry, or that owns the target. */
function findKeyId({ target, details: { kind, ownerId } }: AuditEntry): string | undefined {
  if (target?.kind === 'key') return target.id;
  return target?.kind === 'file' && kind === 'key' && typeof ownerId === 'string' ? ownerId : undefined;
}
