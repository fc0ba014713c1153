import type { Accounts } from '#shared/accounts/accounts.ts';
import { createKeyIdentity, maskKey, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { Key } from '../../contract/keys.ts';
import { toCeilingAnswer } from '../people/people-answers.ts';
import { findState, findSwitchers } from '../recordings/recording-state.ts';
import { ApiFailure, notFound } from '../api-failure.ts';

/**
 * Converts keys into the API's answers, without the hash and with only the ends of the secret.
 * @param isRecording whether this router records requests
 */
export async function toKeyAnswers(
  { keys, users }: Pick<Accounts, 'keys' | 'users'>,
  found: FoundKey[],
  isRecording: boolean,
): Promise<Key[]> {
  const personIds = new Set(found.flatMap(({ createdBy, issuedBy }) => [createdBy ?? [], issuedBy ?? []].flat()));
  for (const personId of findSwitchers(found)) personIds.add(personId);
  const [uses, names] = await Promise.all([
    keys.readLastUses(found.map(({ id }) => id)),
    users.readNames([...personIds]),
  ]);
  return found.map((key, index) => {
    const {
      id,
      kind,
      name,
      class: priority,
      createdAt,
      expiresAt,
      revokedAt,
      models,
      tiers,
      tools,
      limits = {},
      weight = 1,
    } = key;
    const { ownerId, owner, issuedBy, storesAs, createdBy, replacedBy, adminSet = [] } = key;
    const ceiling = toCeilingAnswer(owner?.ceiling);
    const maker = createdBy === undefined ? undefined : names.get(createdBy);
    const issuer = issuedBy === undefined ? undefined : names.get(issuedBy);
    const lastUsedAt = uses[index];
    const { class: effectiveClass } = createKeyIdentity(key);
    const recording = isRecording ? findState(key, names) : undefined;
    return {
      id,
      kind,
      name,
      class: priority,
      ...(effectiveClass === priority ? {} : { classInForce: effectiveClass }),
      masked: maskKey(key),
      createdAt,
      limits,
      weight,
      records: key.records !== undefined,
      ...(recording && { recording }),
      ...(ownerId === undefined ? {} : { owner: { id: ownerId, name: owner?.name ?? 'a deleted team' } }),
      ...(maker === undefined ? {} : { createdBy: maker }),
      ...(storesAs === undefined
        ? {}
        : { issued: { storesAs: `key:${storesAs}`, ...(issuer !== undefined && { by: issuer }) } }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(revokedAt === undefined ? {} : { revokedAt }),
      ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
      ...(replacedBy === undefined ? {} : { replacedBy }),
      ...(models === undefined ? {} : { models }),
      ...(tiers === undefined ? {} : { tiers }),
      ...(tools === undefined ? {} : { tools }),
      ...(Object.keys(ceiling).length === 0 ? {} : { ceiling }),
      ...(adminSet.length === 0 ? {} : { adminSet }),
    };
  });
}

export function creationFailure(outcome: 'no owner' | 'too many'): ApiFailure {
  if (outcome === 'no owner') return notFound();
  return new ApiFailure(409, 'too_many_keys', 'There are 200 keys already. Revoke some that are no longer needed.');
}

/**
 * Returns the 403 for a setting that an administrator has set.
 * @param field the setting
 */
export function lockedFailure(field: string): ApiFailure {
  return new ApiFailure(403, 'admin_set', 'An administrator has set this. Ask one to change it.', { field });
}

export function keyChangedFailure(): ApiFailure {
  return new ApiFailure(409, 'key_changed', 'Others change this key at this moment. Reload the page.');
}

export function notUsableFailure(): ApiFailure {
  return new ApiFailure(409, 'key_not_usable', 'This key is revoked, replaced or expired.');
}
