import { z } from 'zod';
import { isSafeAddress } from './token-issuers.ts';

const groupRule = z.strictObject({
  /** Value of the groups claim. */
  group: z.string().min(1),
  /** The role of the group's members in the console. */
  role: z.enum(['admin', 'member']).optional(),
  /** Names of the teams of the group's members. */
  teams: z.array(z.string().min(1)).default([]),
});

/** An identity provider at which people sign in to the console (OpenID Connect). */
const provider = z
  .strictObject({
    /** The name of the provider in paths such as `/console/api/oidc/<name>/callback`. */
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'a name is made of small letters, digits and -'),
    /** The text of the sign-in button; default: the name. */
    label: z.string().min(1).max(60).optional(),
    issuer: z.url({ protocol: /^https?$/ }),
    client_id: z.string().min(1),
    /** The ingress's environment variable that contains the client's secret; absent for a public client. */
    client_secret_env: z.string().min(1).optional(),
    client_secret: z
      .never('a secret does not stand here: name the variable that has it, as `client_secret_env`')
      .optional(),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/))
      .refine(
        (scopes) => scopes.includes('openid'),
        'name `openid`: without it, a provider does not say who somebody is',
      )
      .default(['openid', 'email', 'profile']),
    /** Whether e-mail addresses count as verified even if the provider does not state whether they are. */
    trust_email: z.boolean().default(false),
    /** Domains of the e-mail addresses that may sign in; `*` stands for all domains. */
    domains: z.array(z.string().toLowerCase().min(1)).default([]),
    /** The claim that contains a person's groups. */
    groups_claim: z.string().min(1).default('groups'),
    /** Groups whose members may sign in. */
    groups: z.array(groupRule).default([]),
    /** Hours after a sign-in until a person must sign in again, if the provider issues no refresh token. */
    session_hours: z.number().min(0.01).max(720).default(12),
  })
  .refine(({ domains, groups }) => domains.length + groups.length > 0, {
    error: 'name `domains` or `groups`: otherwise nobody may come in',
  })
  .refine(({ issuer }) => isSafeAddress(issuer), { path: ['issuer'], error: 'must be https' });

/** How people sign in to the console. */
export const signInSchema = z
  .strictObject({
    providers: z.array(provider).default([]),
    /** Whether people can sign in with a password and be invited. */
    local_accounts: z.boolean().default(true),
  })
  .refine(({ providers }) => new Set(providers.map(({ name }) => name)).size === providers.length, {
    path: ['providers'],
    error: 'two have the same name',
  });

export type SignInSettings = z.output<typeof signInSchema>;
export type SignInProvider = z.output<typeof provider>;
