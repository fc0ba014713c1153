import type { z } from 'zod';
import { createKey, createOwnedKey, type CreatedKey } from '#shared/accounts/keys/create-key.ts';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { Ceiling } from '#shared/accounts/people/ceiling.ts';
import { mayDo, requireAccess, type ResourceOwner } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, forbidden } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';
import { asMemberIfOwner } from '../batches/resource-owners.ts';
import { computeAdminSet } from './admin-set.ts';
import { creationFailure } from './key-answers.ts';
import type { newKey } from './key-inputs.ts';

/**
 * Checks that the actor may create a key, and creates it.
 * @throws ApiFailure 400 for a missing owner, 403, 404 for an owner that does not exist, 409 for too many keys
 */
export async function makeKey(parts: ApiParts, actor: Actor, wanted: z.output<typeof newKey>): Promise<CreatedKey> {
  const { keys } = parts.accounts;
  const { kind, userId = actor.id, teamId, ...settings } = wanted;
  const { class: priority = 'normal' } = settings;
  const newRecord = { ...settings, class: priority, kind, createdBy: actor.id };
  if (kind === 'router') {
    requireAccess('key.make.router', actor);
    return createKey(keys, newRecord);
  }
  if (kind === 'team' && teamId === undefined) {
    throw new ApiFailure(400, 'invalid_request', 'Choose a team.', { field: 'teamId' });
  }
  if (kind === 'user' && wanted.userId === undefined && actor.id.startsWith('token:')) {
    const message = 'The token belongs to nobody, who could own a key: name a person.';
    throw new ApiFailure(400, 'invalid_request', message, { field: 'userId' });
  }
  const owner = { kind, id: kind === 'team' ? (teamId ?? '') : userId };
  requireAccess('key.make', actor, owner);
  if (settings.class === 'high' && (await readCeiling(parts, owner))?.maxClass !== 'high') {
    requireAccess('key.class.high', actor, owner);
  }
  if (kind === 'user' && !(await mayMakePersonalKeys(parts, actor))) {
    throw forbidden('Only administrators may create personal keys here.');
  }
  const created = await createOwnedKey(keys, {
    ...newRecord,
    ownerId: owner.id,
    ...(isIssuedKey(actor, owner) && { issuedBy: actor.id }),
    ...(locksSettings(actor, owner) && { adminSet: computeAdminSet({}, settings) }),
  });
  if (typeof created === 'string') throw creationFailure(created);
  return created;
}

/**
 * Returns whether the actor locks the settings that they make on a key of this owner, so that only administrators may change them. An
 * administrator does so on every key that belongs to somebody else.
 */
export function locksSettings({ id, role }: Actor, owner: ResourceOwner | undefined): boolean {
  return role === 'admin' && owner !== undefined && owner.id !== id;
}

/**
 * Returns whether a key that the actor makes for this owner is an issued key, because the actor may not read the owner's files. The actor
 * sees the secret of the key, and could read these files with it. Therefore an issued key owns what it stores, and cannot read what its
 * owner has stored.
 */
export function isIssuedKey(actor: Actor, owner: ResourceOwner): boolean {
  return !mayDo('file.read', asMemberIfOwner(actor, owner), owner);
}

export function ownerOf({ kind, ownerId }: FoundKey): ResourceOwner | undefined {
  return ownerId === undefined || kind === 'router' ? undefined : { kind, id: ownerId };
}

async function readCeiling(
  { accounts: { users, teams } }: ApiParts,
  { kind, id }: ResourceOwner,
): Promise<Ceiling | undefined> {
  const owner = kind === 'user' ? await users.find(id) : await teams.find(id);
  return owner?.ceiling;
}

/** Returns whether the router's settings let the actor make personal keys. Other rules may still refuse a key. */
export async function mayMakePersonalKeys({ accounts }: ApiParts, { role }: Actor): Promise<boolean> {
  return role === 'admin' || (await accounts.settings.read()).membersMakeKeys;
}
