import { z } from 'zod';
import { adminScopes } from '#shared/accounts/admin-tokens/admin-token.ts';
import type { AdminTokenRecord } from '#shared/accounts/admin-tokens/admin-token.ts';
import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import { displayNameSchema } from '#shared/accounts/people/user.ts';
import {
  adminTokenSchema,
  createdAdminTokenSchema,
  ownAdminTokenSchema,
  type AdminToken,
} from '../../contract/tokens.ts';
import { requireAccess } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { byCreation, pageOf } from '../operations/page.ts';

const dayMs = 24 * 3_600_000;

const newToken = z.strictObject({
  name: displayNameSchema,
  scopes: z
    .array(z.enum(adminScopes))
    .min(1)
    .max(adminScopes.length)
    .describe('`read`: read everything; `keys`: make and change keys; `admin`: everything that the person may do.'),
  expiresInDays: z.number().int().min(1).max(366).default(90),
});

export function tokenOperations(parts: Pick<ApiParts, 'accounts' | 'log'>): Operation[] {
  const { adminTokens, users } = parts.accounts;
  return [
    listOperation({
      path: '/tokens',
      id: 'listTokens',
      subject: 'tokens',
      summary: 'Lists the admin tokens of the person; for an administrator, all. Oldest first.',
      scopes: ['read'],
      command: 'tokens list',
      item: adminTokenSchema,
      handle: async ({ actor }, page) => {
        const all = await adminTokens.list(actor.role === 'admin' ? undefined : actor.id);
        const { data, next } = pageOf(all, page, byCreation);
        return { data: await answers(data), next };
      },
    }),
    operation({
      method: 'get',
      path: '/tokens/current',
      id: 'getOwnToken',
      subject: 'tokens',
      summary: 'Answers the admin token of the request.',
      scopes: ['read', 'keys'],
      command: 'tokens current',
      answer: ownAdminTokenSchema,
      handle: async ({ actor }) => {
        const token = actor.token && (await adminTokens.find(actor.token.id));
        const [answer] = token ? await answers([token]) : [];
        if (!answer) throw notFound();
        return { ...answer, role: actor.role };
      },
    }),
    operation({
      method: 'post',
      path: '/tokens',
      id: 'createToken',
      subject: 'tokens',
      summary:
        'Makes an admin token with the rights of the person. The answer is the only one that has it. One that is made with a token expires with that token at the latest, and is revoked with it.',
      scopes: [],
      command: 'tokens create',
      body: newToken,
      answer: createdAdminTokenSchema,
      statuses: [201],
      handle: async ({ actor, body: { name, scopes, expiresInDays } }) => {
        const { token: maker, tokenEpoch: epoch } = actor;
        const madeAt = maker?.madeAt;
        const ownerId = madeAt === undefined ? actor.id : undefined;
        const outlivesMaker = maker === undefined || maker.isForCommand === true;
        const latest = outlivesMaker ? Infinity : maker.expiresAt;
        const expiresAt = Math.min(Date.now() + expiresInDays * dayMs, latest);
        const madeWith = outlivesMaker ? undefined : maker.id;
        const created = await adminTokens.create({ name, scopes, expiresAt, ownerId, madeAt, epoch, madeWith });
        if (created === 'no owner' || created === 'no maker') throw notFound();
        if (created === 'too many') {
          throw new ApiFailure(
            409,
            'too_many_tokens',
            'There are 100 tokens already. Revoke some that are no longer needed.',
          );
        }
        const { record: token, raw } = created;
        await note('token.create', actor, token, { scopes, expiresAt });
        const [answer] = await answers([token]);
        if (!answer) throw notFound();
        return { token: answer, raw };
      },
    }),
    operation({
      method: 'delete',
      path: '/tokens/{id}',
      id: 'revokeToken',
      subject: 'tokens',
      summary: 'Revokes an admin token, and those that were made with it.',
      scopes: [],
      command: 'tokens revoke',
      handle: async ({ actor, params: { id } }) => {
        const token = isKeyId(id) ? await adminTokens.find(id) : undefined;
        if (!token) throw notFound();
        requireAccess('token.manage', actor, { kind: 'user', id: token.ownerId ?? '' });
        await adminTokens.remove(token);
        await note('token.revoke', actor, token, {});
      },
    }),
  ];

  async function answers(
    tokens: readonly (AdminTokenRecord & { lastUsedAt?: number | undefined })[],
  ): Promise<AdminToken[]> {
    const names = await users.readNames([...new Set(tokens.flatMap(({ ownerId }) => ownerId ?? []))]);
    return tokens.map(({ id, name, scopes, createdAt, expiresAt, lastUsedAt, ownerId, madeAt, madeWith }) => ({
      id,
      name,
      scopes,
      createdAt,
      expiresAt,
      ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
      ...(ownerId === undefined ? {} : { owner: { id: ownerId, name: names.get(ownerId) ?? '' } }),
      ...(madeAt === undefined ? {} : { madeAt }),
      ...(madeWith === undefined ? {} : { madeWith }),
    }));
  }

  function note(action: string, actor: Actor, { id, name, ownerId }: AdminTokenRecord, more: Record<string, unknown>) {
    // Null: the token belongs to nobody.
    const details = { ownerId: ownerId ?? null, ...more };
    return record(parts, actor, { action, target: { kind: 'token', id, name }, details });
  }
}
