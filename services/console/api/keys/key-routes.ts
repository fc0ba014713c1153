import { Router } from 'express';
import { z } from 'zod';
import { createKey, createOwnedKey, rotateKey, type CreatedKey } from '#shared/accounts/keys/create-key.ts';
import { keyKinds } from '#shared/accounts/keys/key-format.ts';
import { keyToolsSchema, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import { limitsSchema, weightSchema } from '#shared/accounts/limits/limits.ts';
import type { Ceiling } from '#shared/accounts/people/ceiling.ts';
import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import { displayNameSchema } from '#shared/accounts/people/user.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';
import { requireAccess, type Action } from '../access.ts';
import { ApiFailure, forbidden, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { adminSetAfter, lockedIn } from './admin-set.ts';
import { keyAnswers } from './key-answers.ts';
import { parse } from '../parse.ts';
import { signedInOf, type SignedIn } from '../session/signed-in.ts';

/** Milliseconds: 30 days. */
const longestOverlapMs = 30 * 24 * 3_600_000;

const future = z
  .number()
  .int()
  .max(8.64e15)
  .refine((time) => time > Date.now(), 'Choose a time in the future.');
const settings = z.strictObject({
  name: displayNameSchema,
  class: z.enum(priorityClasses).default('normal'),
  expiresAt: future.optional(),
  models: z.array(z.string().trim().min(1).max(200)).min(1).max(100).optional(),
  tiers: z.array(z.enum(tiers)).min(1).max(tiers.length).optional(),
  tools: keyToolsSchema.optional(),
  limits: limitsSchema.default({}),
  weight: weightSchema.optional(),
});
const newKey = settings.extend({
  kind: z.enum(keyKinds),
  userId: z.string().optional(),
  teamId: z.string().optional(),
});
/** The settings to change; null removes a restriction. */
const change = z.strictObject({
  name: displayNameSchema.optional(),
  class: z.enum(priorityClasses).optional(),
  expiresAt: future.nullable().optional(),
  models: settings.shape.models.nullable(),
  tiers: settings.shape.tiers.nullable(),
  tools: settings.shape.tools.nullable(),
  limits: limitsSchema.optional(),
  weight: weightSchema.optional(),
});
const rotation = z.strictObject({ overlapMs: z.number().int().min(0).max(longestOverlapMs) });

/** The keys that a person may see, and their actions on them. */
export function keyRoutes(parts: ApiParts): Router {
  const { accounts, announce } = parts;
  const { keys } = accounts;
  const routes = Router();
  routes.get('/keys', async (_, response) => {
    response.json(await keyAnswers(accounts, await visibleKeys(parts, signedInOf(response))));
  });
  routes.post('/keys', async (request, response) => {
    const person = signedInOf(response);
    const created = await makeKey(parts, person, parse(newKey, request.body));
    await note('key.create', person, created.record, {
      kind: created.record.kind,
      ownerId: created.record.ownerId,
      class: created.record.class,
    });
    response.status(201).json(await createdAnswer(created));
  });
  routes.patch('/keys/:id', async (request, response) => {
    const person = signedInOf(response);
    const key = await find(request.params.id, 'key.change', person);
    const wanted = parse(change, request.body);
    const owner = ownerOf(key);
    const isAdmin = person.role === 'admin';
    if (wanted.class === 'high' && key.class !== 'high' && key.owner?.ceiling?.maxClass !== 'high') {
      requireAccess('key.class.high', person, owner);
    }
    const locked = isAdmin ? undefined : lockedIn(key, wanted);
    if (locked !== undefined) throw lockedFailure(locked);
    const changes = Object.fromEntries(
      Object.entries(wanted).map(([name, value]) => [name, value === null ? undefined : value]),
    );
    const adminSet = locks(person, owner) ? { adminSet: adminSetAfter(key, wanted) } : {};
    const outcome = await keys.change(
      key.id,
      { ...changes, ...adminSet },
      isAdmin ? undefined : { adminSet: key.adminSet },
    );
    if (outcome === 'admin set') throw lockedFailure();
    if (outcome === 'unknown') throw notFound();
    if (outcome === 'over') throw notUsable();
    await announce(key.id);
    const before = Object.fromEntries(Object.keys(wanted).map((name) => [name, key[name as keyof FoundKey] ?? null]));
    await note('key.change', person, key, { before, after: wanted });
    response.json(await keyAnswer(key.id));
  });
  routes.post('/keys/:id/rotate', async (request, response) => {
    const person = signedInOf(response);
    const key = await find(request.params.id, 'key.change', person);
    const { overlapMs } = parse(rotation, request.body);
    // For as long as both work, that is one key more.
    if (overlapMs > 0 && key.kind === 'user' && !(await mayMakePersonalKeys(parts, person))) {
      throw forbidden('Only administrators may create personal keys here. Replace this one without an overlap.');
    }
    const created = await rotateKey(keys, key, { createdBy: person.id, overlapMs });
    if (created === 'not usable') throw notUsable();
    if (typeof created === 'string') throw notCreated(created);
    await announce(key.id);
    await note('key.rotate', person, key, { newId: created.record.id, overlapMs });
    response.status(201).json(await createdAnswer(created));
  });
  routes.delete('/keys/:id', async (request, response) => {
    const person = signedInOf(response);
    const key = await find(request.params.id, 'key.change', person);
    const outcome = await keys.revoke(key.id, Date.now());
    // Always announced: a second revocation may be an attempt to repair a lost first announcement.
    await announce(key.id);
    if (outcome === 'revoked') await note('key.revoke', person, key, {});
    response.status(204).end();
  });
  return routes;

  /** A key that this person may see and act on. @throws ApiFailure 403 or 404 */
  async function find(id: string, action: Action, person: SignedIn): Promise<FoundKey> {
    const key = isKeyId(id) ? await keys.find(id) : undefined;
    if (!key) throw notFound();
    requireAccess(action, person, ownerOf(key));
    return key;
  }

  async function keyAnswer(id: string) {
    const key = await keys.find(id);
    const [answer] = await keyAnswers(accounts, key ? [key] : []);
    if (!answer) throw notFound();
    return answer;
  }

  async function createdAnswer({ raw, record: { id } }: CreatedKey) {
    return { key: await keyAnswer(id), raw };
  }

  function note(action: string, person: SignedIn, { id, name }: { id: string; name: string }, details: object) {
    return record(parts, person, { action, target: { kind: 'key', id, name }, details: { ...details } });
  }
}

async function visibleKeys({ accounts: { keys } }: ApiParts, person: SignedIn): Promise<FoundKey[]> {
  if (person.role === 'admin') return keys.list();
  const owners = [person.id, ...person.teams.keys()];
  return (await Promise.all(owners.map((owner) => keys.listOf(owner)))).flat();
}

async function makeKey(parts: ApiParts, person: SignedIn, wanted: z.output<typeof newKey>): Promise<CreatedKey> {
  const { keys } = parts.accounts;
  const { kind, userId = person.id, teamId, ...facts } = wanted;
  const made = { ...facts, kind, createdBy: person.id };
  if (kind === 'router') {
    requireAccess('key.make.router', person);
    return createKey(keys, made);
  }
  if (kind === 'team' && teamId === undefined) {
    throw new ApiFailure(400, 'invalid_request', 'Choose a team.', { field: 'teamId' });
  }
  const owner = { kind, id: kind === 'team' ? (teamId ?? '') : userId };
  requireAccess('key.make', person, owner);
  if (facts.class === 'high' && (await ceilingOf(parts, owner))?.maxClass !== 'high') {
    requireAccess('key.class.high', person, owner);
  }
  if (kind === 'user' && !(await mayMakePersonalKeys(parts, person))) {
    throw forbidden('Only administrators may create personal keys here.');
  }
  const created = await createOwnedKey(keys, {
    ...made,
    ownerId: owner.id,
    ...(locks(person, owner) && { adminSet: adminSetAfter({ class: 'normal' }, facts) }),
  });
  if (typeof created === 'string') throw notCreated(created);
  return created;
}

/** Whether what a person sets on a key of this owner is kept from changes by others: an administrator's on the key of somebody else. */
function locks({ id, role }: SignedIn, owner: { kind: 'user' | 'team'; id: string } | undefined): boolean {
  return role === 'admin' && owner !== undefined && owner.id !== id;
}

async function ceilingOf(
  { accounts: { users, teams } }: ApiParts,
  { kind, id }: { kind: 'user' | 'team'; id: string },
): Promise<Ceiling | undefined> {
  const owner = kind === 'user' ? await users.find(id) : await teams.find(id);
  return owner?.ceiling;
}

async function mayMakePersonalKeys({ accounts }: ApiParts, { role }: SignedIn): Promise<boolean> {
  return role === 'admin' || (await accounts.settings.read()).membersMakeKeys;
}

function ownerOf({ kind, ownerId }: FoundKey): { kind: 'user' | 'team'; id: string } | undefined {
  return ownerId === undefined || kind === 'router' ? undefined : { kind, id: ownerId };
}

function notCreated(outcome: 'no owner' | 'too many'): ApiFailure {
  if (outcome === 'no owner') return notFound();
  return new ApiFailure(409, 'too_many_keys', 'There are 200 keys already. Revoke some that are no longer needed.');
}

/** @param field the setting; undefined when an administrator has changed the key at the same time */
function lockedFailure(field?: string): ApiFailure {
  return field === undefined
    ? new ApiFailure(409, 'key_changed', 'An administrator has changed this key meanwhile. Reload the page.')
    : new ApiFailure(403, 'admin_set', 'An administrator has set this. Ask one to change it.', { field });
}

function notUsable(): ApiFailure {
  return new ApiFailure(409, 'key_not_usable', 'This key is revoked, replaced or expired.');
}
