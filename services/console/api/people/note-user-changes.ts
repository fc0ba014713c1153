import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { Actor } from '../actor.ts';
import { record, type ApiParts } from '../api-parts.ts';

/** Writes one audit entry for each fact about a person that has changed. */
export async function noteUserChanges(
  parts: Pick<ApiParts, 'accounts' | 'log'>,
  actor: Actor,
  before: UserRecord,
  after: UserRecord,
): Promise<void> {
  const target = { kind: 'user', id: after.id, name: after.name };
  const notes: { action: string; details: Record<string, unknown> }[] = [];
  if (before.name !== after.name) {
    notes.push({ action: 'user.rename', details: { before: before.name, after: after.name } });
  }
  if (before.role !== after.role) {
    notes.push({ action: 'user.role', details: { before: before.role, after: after.role } });
  }
  const [wasBlocked, isBlocked] = [before, after].map(({ blockedAt }) => blockedAt !== undefined);
  if (wasBlocked !== isBlocked) notes.push({ action: isBlocked ? 'user.block' : 'user.unblock', details: {} });
  const [limitsBefore, limitsAfter] = [before, after].map(({ limits }) => limits ?? {});
  if (JSON.stringify(limitsBefore) !== JSON.stringify(limitsAfter)) {
    notes.push({ action: 'user.limits', details: { before: limitsBefore, after: limitsAfter } });
  }
  const [weightBefore, weightAfter] = [before, after].map(({ weight }) => weight ?? 1);
  if (weightBefore !== weightAfter) {
    notes.push({ action: 'user.weight', details: { before: weightBefore, after: weightAfter } });
  }
  const [ceilingBefore, ceilingAfter] = [before, after].map(({ ceiling }) => ceiling ?? {});
  if (JSON.stringify(ceilingBefore) !== JSON.stringify(ceilingAfter)) {
    notes.push({ action: 'user.ceiling', details: { before: ceilingBefore, after: ceilingAfter } });
  }
  for (const { action, details } of notes) await record(parts, actor, { action, target, details });
}
