import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { Actor } from '../actor.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';

/** Writes one audit entry for each change to a person's name, role, block, limits, weight or ceiling. */
export async function auditUserChanges(
  parts: Pick<ApiParts, 'accounts' | 'log'>,
  actor: Actor,
  before: UserRecord,
  after: UserRecord,
): Promise<void> {
  const target = { kind: 'user', id: after.id, name: after.name };
  const entries: { action: string; details: Record<string, unknown> }[] = [];
  if (before.name !== after.name) {
    entries.push({ action: 'user.rename', details: { before: before.name, after: after.name } });
  }
  if (before.role !== after.role) {
    entries.push({ action: 'user.role', details: { before: before.role, after: after.role } });
  }
  const [wasBlocked, isBlocked] = [before, after].map(({ blockedAt }) => blockedAt !== undefined);
  if (wasBlocked !== isBlocked) entries.push({ action: isBlocked ? 'user.block' : 'user.unblock', details: {} });
  const [limitsBefore, limitsAfter] = [before, after].map(({ limits }) => limits ?? {});
  if (JSON.stringify(limitsBefore) !== JSON.stringify(limitsAfter)) {
    entries.push({ action: 'user.limits', details: { before: limitsBefore, after: limitsAfter } });
  }
  const [weightBefore, weightAfter] = [before, after].map(({ weight }) => weight ?? 1);
  if (weightBefore !== weightAfter) {
    entries.push({ action: 'user.weight', details: { before: weightBefore, after: weightAfter } });
  }
  const [ceilingBefore, ceilingAfter] = [before, after].map(({ ceiling }) => ceiling ?? {});
  if (JSON.stringify(ceilingBefore) !== JSON.stringify(ceilingAfter)) {
    entries.push({ action: 'user.ceiling', details: { before: ceilingBefore, after: ceilingAfter } });
  }
  for (const { action, details } of entries) await writeAudit(parts, actor, { action, target, details });
}
