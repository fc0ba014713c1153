import { z } from 'zod';
import { userRoles } from '#shared/accounts/people/user.ts';
import { adminScopes } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: admin tokens. The rules of `conventions.ts` apply.
 */

export const adminTokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(adminScopes)),
    createdAt: time,
    expiresAt: time,
    lastUsedAt: time.exactOptional().describe('The time of the last request with the token, to the minute.'),
    owner: z
      .object({ id: z.string(), name: z.string() })
      .exactOptional()
      .describe('The person who made the token and whose rights the token has. Absent: a command line made it.'),
    madeAt: z.string().exactOptional().describe('The command line that made the token, for example `ada@workstation`.'),
    madeWith: z
      .string()
      .exactOptional()
      .describe('Id of the token that made this token. When it ends, this token ends.'),
  })
  .meta({ id: 'AdminToken' });

/** The admin token with which a request is sent. */
export const ownAdminTokenSchema = adminTokenSchema
  .extend({ role: z.enum(userRoles).describe('The role of the person. `admin` for the token of a command line.') })
  .meta({ id: 'OwnAdminToken' });

/**
 * `GET /tokens`: the admin tokens of the signed-in person; for an admin, all tokens. `POST /tokens` with a NewAdminToken answers
 * `{ token, raw }`. `DELETE /tokens/<id>` revokes a token.
 */
export type AdminToken = z.output<typeof adminTokenSchema>;

export const createdAdminTokenSchema = z
  .object({
    token: adminTokenSchema,
    raw: z.string().describe('The token with its secret. It is shown only this once.'),
  })
  .meta({ id: 'CreatedAdminToken' });

/** Without `expiresInDays` the token expires after 90 days. */
export interface NewAdminToken {
  name: string;
  scopes: AdminToken['scopes'];
  expiresInDays?: number;
}
