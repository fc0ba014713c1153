import type { Accounts } from '#shared/accounts/accounts.ts';
import { identityOfKey, maskedKey, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { Key } from '../../contract/account.ts';
import { ceilingAnswer } from '../people/ceiling-answer.ts';

/** Keys as the pages see them: without the hash, and with only the ends of the secret. */
export async function keyAnswers({ keys, users }: Pick<Accounts, 'keys' | 'users'>, found: FoundKey[]): Promise<Key[]> {
  const makers = new Set(found.flatMap(({ createdBy, issuedBy }) => [createdBy ?? [], issuedBy ?? []].flat()));
  const [uses, names] = await Promise.all([keys.lastUses(found.map(({ id }) => id)), users.namesOf([...makers])]);
  return found.map((key, at) => {
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
    const ceiling = ceilingAnswer(owner?.ceiling);
    const maker = createdBy === undefined ? undefined : names.get(createdBy);
    const issuer = issuedBy === undefined ? undefined : names.get(issuedBy);
    const lastUsedAt = uses[at];
    const { class: inForce } = identityOfKey(key);
    return {
      id,
      kind,
      name,
      class: priority,
      ...(inForce === priority ? {} : { classInForce: inForce }),
      masked: maskedKey(key),
      createdAt,
      limits,
      weight,
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
