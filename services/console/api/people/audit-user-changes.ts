import { isDeepStrictEqual } from 'node:util';
import type { UserChange } from '#shared/accounts/people/user-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { Actor } from '../actor.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';

/**
 * Writes one audit entry for each change to a person's name, role, block, limits, weight or ceiling.
 * @param before the record that was changed
 * @param wanted the values that were set; values that the person had before are no changes
 */
export async function auditUserChanges(
  parts: Pick<ApiParts, 'accounts' | 'log'>,
  actor: Actor,
  before: UserRecord,
  wanted: UserChange,
): Promise<void> {
  const target = { kind: 'user', id: before.id, name: wanted.name ?? before.name };
  const { limits = {}, weight = 1, ceiling = {} } = before;
  const values = [
    { action: 'user.rename', before: before.name, after: wanted.name },
    { action: 'user.role', before: before.role, after: wanted.role },
    { action: 'user.limits', before: limits, after: wanted.limits },
    { action: 'user.weight', before: weight, after: wanted.weight },
    { action: 'user.ceiling', before: ceiling, after: wanted.ceiling },
  ];
  if (wanted.blocked !== undefined && wanted.blocked !== (before.blockedAt !== undefined)) {
    await writeAudit(parts, actor, { action: wanted.blocked ? 'user.block' : 'user.unblock', target, details: {} });
  }
  for (const { action, ...details } of values) {
    if (details.after !== undefined && !isDeepStrictEqual(details.before, details.after))
      await writeAudit(parts, actor, { action, target, details });
  }
}
