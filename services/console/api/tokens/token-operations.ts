import { z } from 'zod';
import { adminScopes } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
import type { AdminTokenRecord } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
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
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { byCreation, cutPage } from '../operations/page.ts';

const dayMs = 24 * 3_600_000;

const newToken = z.strictObject({
  name: displayNameSchema,
  scopes: z
    .array(z.enum(adminScopes))
    .min(1)
    .max(adminScopes.length)
    .default(['read'])
    .describe('`read`: read everything; `keys`: make and change keys; `admin`: everything that the person may do.'),
  expiresInDays: z.number().int().min(1).max(366).default(90).describe('Days until the token is refused'),
});

export function tokenOperations(parts: Pick<ApiParts, 'accounts' | 'log'>): Operation[] {
  const { adminTokens, users } = parts.accounts;
  return [
    listOperation({
      path: '/tokens',
      id: 'listTokens',
      subject: 'tokens',
      summary: 'Lists the admin tokens of the person; for an administrator, all admin tokens. Oldest first.',
      scopes: ['read'],
      command: 'tokens list',
      form: {
        columns: ['id', 'scopes', 'owner', 'madeAt', 'createdAt', 'expiresAt', 'lastUsedAt', 'name'],
        none: 'There are no admin tokens.',
      },
      item: adminTokenSchema,
      handle: async ({ actor }, page) => {
        const tokens = await adminTokens.list(actor.role === 'admin' ? undefined : actor.id);
        const { data, next } = cutPage(tokens, page, byCreation);
        return { data: await toAnswers(data), next };
      },
    }),
    operation({
      method: 'get',
      path: '/tokens/current',
      id: 'getOwnToken',
      subject: 'tokens',
      summary: 'Returns the admin token that this request was made with, without its secret.',
      scopes: ['read', 'keys'],
      command: 'tokens current',
      answer: ownAdminTokenSchema,
      handle: async ({ actor }) => {
        const token = actor.token && (await adminTokens.find(actor.token.id));
        const [answer] = token ? await toAnswers([token]) : [];
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
        "Makes an admin token with the rights of the person. Only this response contains the token's secret. A token made with another admin token expires no later than that token, and is revoked together with it.",
      scopes: [],
      command: 'tokens create',
      form: {
        done: 'Admin token "{token.name}", valid until {token.expiresAt}, shown only this once: {raw}',
        example: 'tokens create --name scripts --scopes read,keys',
      },
      body: newToken,
      answer: createdAdminTokenSchema,
      statuses: [201],
      handle: async ({ actor, body: { name, scopes, expiresInDays } }) => {
        const { token: maker, tokenEpoch: epoch } = actor;
        // A token that was made at a command line belongs to nobody. The same holds for tokens that are made with it.
        const commandLine = maker?.madeAt;
        const ownerId = commandLine === undefined ? actor.id : undefined;
        // The new token expires no later than the token that makes it, unless that token was made for a single command of `rtr`.
        const boundTo = maker?.isForCommand === true ? undefined : maker;
        const expiresAt = Math.min(Date.now() + expiresInDays * dayMs, boundTo?.expiresAt ?? Infinity);
        const madeWith = boundTo?.id;
        const facts = { name, scopes, expiresAt, ownerId, madeAt: commandLine, epoch, madeWith };
        const created = await adminTokens.create(facts);
        if (created === 'no owner' || created === 'no maker') throw notFound();
        if (created === 'too many') {
          throw new ApiFailure(
            409,
            'too_many_tokens',
            'There are 100 tokens already. Revoke some that are no longer needed.',
          );
        }
        const { record: token, raw: secret } = created;
        await auditToken('token.create', actor, token, { scopes, expiresAt });
        const [answer] = await toAnswers([token]);
        if (!answer) throw notFound();
        return { token: answer, raw: secret };
      },
    }),
    operation({
      method: 'delete',
      path: '/tokens/{id}',
      id: 'revokeToken',
      subject: 'tokens',
      summary: 'Revokes an admin token, and the tokens that were made with it.',
      scopes: [],
      command: 'tokens revoke',
      form: { done: 'The admin token {token} is revoked.' },
      handle: async ({ actor, params: { id } }) => {
        const token = isKeyId(id) ? await adminTokens.find(id) : undefined;
        if (!token) throw notFound();
        requireAccess('token.manage', actor, { kind: 'user', id: token.ownerId ?? '' });
        await adminTokens.remove(token);
        await auditToken('token.revoke', actor, token, {});
      },
    }),
  ];

  async function toAnswers(
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

  function auditToken(
    action: string,
    actor: Actor,
    { id, name, ownerId }: AdminTokenRecord,
    more: Record<string, unknown>,
  ) {
    // Null: the token belongs to nobody.
    const details = { ownerId: ownerId ?? null, ...more };
    return writeAudit(parts, actor, { action, target: { kind: 'token', id, name }, details });
  }
}
