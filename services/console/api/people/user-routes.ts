import { Router } from 'express';
import { z } from 'zod';
import { limitsSchema, weightSchema } from '#shared/accounts/limits/limits.ts';
import { ceilingSchema } from '#shared/accounts/people/ceiling.ts';
import { userRoles, type UserRecord } from '#shared/accounts/people/user.ts';
import type { User } from '../../contract/account.ts';
import { requireAccess } from '../access.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { signedInOf, type SignedIn } from '../session/signed-in.ts';

const change = z.strictObject({
  role: z.enum(userRoles).optional(),
  blocked: z.boolean().optional(),
  limits: limitsSchema.optional(),
  weight: weightSchema.optional(),
  ceiling: ceilingSchema.optional(),
});

/** Accounts, for administrators. */
export function userRoutes(parts: ApiParts): Router {
  const { users } = parts.accounts;
  const routes = Router();
  routes.use('/users', (_, response, next) => {
    requireAccess('user.manage', signedInOf(response));
    next();
  });
  routes.get('/users', async (_, response) => {
    response.json((await users.list()).map(userAnswer));
  });
  routes.patch('/users/:id', async (request, response) => {
    const { id } = request.params;
    const wanted = parse(change, request.body);
    const before = await users.find(id);
    const outcome = await users.change(id, wanted, Date.now());
    if (outcome === 'last admin') {
      throw new ApiFailure(
        409,
        'last_admin',
        'This is the last administrator. Make someone else an administrator first.',
      );
    }
    const after = await users.find(id);
    if (outcome === 'unknown' || !before || !after) throw notFound();
    await parts.announce(`user:${id}`);
    await noteChanges(parts, signedInOf(response), before, after);
    response.json(userAnswer(after));
  });
  routes.post('/users/:id/sign-out', async (request, response) => {
    const user = await users.find(request.params.id);
    if (!user) throw notFound();
    await users.endSessions(user.id);
    await parts.announce(`user:${user.id}`);
    const target = { kind: 'user', id: user.id, name: user.name };
    await record(parts, signedInOf(response), { action: 'user.sign-out', target, details: {} });
    response.status(204).end();
  });
  return routes;
}

/** Writes one audit entry for each fact that has changed. */
async function noteChanges(parts: ApiParts, actor: SignedIn, before: UserRecord, after: UserRecord): Promise<void> {
  const target = { kind: 'user', id: after.id, name: after.name };
  const notes = [];
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

function userAnswer({ id, name, email, role, blockedAt, createdAt, lastSeenAt, ...others }: UserRecord): User {
  const { limits = {}, weight = 1, ceiling = {} } = others;
  const seen = lastSeenAt === undefined ? {} : { lastSeenAt };
  return { id, name, email, role, blocked: blockedAt !== undefined, limits, weight, ceiling, createdAt, ...seen };
}
