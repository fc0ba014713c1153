import { z } from 'zod';
import { keyKinds } from '#shared/accounts/keys/key-format.ts';
import { limitsSchema } from '#shared/accounts/limits/limits.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';
import { recordingStateSchema } from './recordings.ts';

/*
 * The contract between the console's pages and its API: people, teams and keys. All paths are below `/console/api`. Times are milliseconds
 * since 1970. A failure is `{ error: { code, message, field? } }` with an HTTP status; `field` names the invalid input.
 *
 * Every request except GET carries the header `x-csrf-token` with the session's token.
 *
 * The Admin API answers with the schemas in this file, and its document is generated from them. Requests are described by the operations
 * themselves, in `api/`.
 */

const userRoles = ['admin', 'member'] as const;
const teamRoles = ['owner', 'member'] as const;
export type UserRole = (typeof userRoles)[number];
export type TeamRole = (typeof teamRoles)[number];

const time = z.number().describe('Milliseconds since 1970.');
const limits = limitsSchema.meta({
  id: 'Limits',
  description: 'What is absent is not limited. Days and months are those of UTC; costs are US dollars.',
});
const ceiling = z
  .object({
    models: z.array(z.string()).exactOptional(),
    tiers: z.array(z.enum(tiers)).exactOptional(),
    maxClass: z.enum(priorityClasses).exactOptional(),
  })
  .meta({
    id: 'Ceiling',
    description: 'What may be used at most, whatever keys say. What is absent is not restricted.',
  });

/**
 * `GET /session`: the signed-in person (401: nobody). `POST /session` `{ email, password }` signs in and answers a SignInSession;
 * `DELETE /session` signs out, `DELETE /sessions` signs out everywhere. `POST /password` `{ current, next }` changes the password, signs
 * out everywhere else, and answers a SignInSession with a new token. Too many tries: 429 with `retry-after`.
 */
export interface SignInSession {
  user: {
    id: string;
    name: string;
    email: string;
    role: UserRole;
    teams: { id: string; name: string; role: TeamRole }[];
    /** Absent if the person signs in only at a provider. */
    hasPassword?: true;
    makesPersonalKeys: boolean;
    alertEmails: boolean;
  };
  csrfToken: string;
}

/**
 * `GET /links/<token>`: the purpose of a one-time link (404: unknown, used or expired). `POST /links/<token>` `{ name, email, password }`
 * creates the account, uses up the link, signs in, and answers a SignInSession. An invitation contains the address, so that `email` is
 * ignored. A link of the kind `password` sets a new password of an existing account, so that `name` and `email` are ignored.
 */
export interface Link {
  kind: 'first-admin' | 'invitation' | 'password';
  email?: string;
}

export const keySettingsSchema = z.object({
  name: z.string(),
  class: z.enum(priorityClasses),
  expiresAt: time.exactOptional(),
  models: z.array(z.string()).exactOptional().describe('Absent: all models.'),
  tiers: z.array(z.enum(tiers)).exactOptional().describe('Absent: all tiers.'),
  tools: z
    .array(z.string())
    .exactOptional()
    .describe('Names of tools, and `<server>/*` for all tools of an MCP server. Absent: all.'),
  limits,
  weight: z
    .number()
    .exactOptional()
    .describe('Turns in the queue for each one of another key of the same owner. Absent: 1.'),
});

export type KeySettings = z.output<typeof keySettingsSchema>;

export const keySchema = keySettingsSchema
  .extend({
    id: z.string(),
    kind: z.enum(keyKinds),
    owner: z
      .object({ id: z.string(), name: z.string() })
      .exactOptional()
      .describe('The person or team it belongs to. Absent for a router key.'),
    classInForce: z
      .enum(priorityClasses)
      .exactOptional()
      .describe(
        'The class that requests have, where it is not the one of the key: its owner may not use that, or not any more.',
      ),
    masked: z.string().describe('The key as it is displayed: everything but the middle of the secret.'),
    createdAt: time,
    createdBy: z.string().exactOptional().describe('The name of the person who created it.'),
    issued: z
      .object({
        by: z.string().exactOptional().describe('The name of the person who has issued it.'),
        storesAs: z.string().describe('Owner of its files and batches, as `key:<id>`.'),
      })
      .exactOptional()
      .describe(
        'Somebody who may not read what is its owner’s, an administrator, has made it: it has files, batches and responses of its own.',
      ),
    revokedAt: time.exactOptional(),
    lastUsedAt: time.exactOptional().describe('Of the last request, to the minute.'),
    replacedBy: z.string().exactOptional().describe('The id of the key that was made in its place.'),
    records: z.boolean().describe('Whether the key is switched to having its requests recorded.'),
    recording: recordingStateSchema
      .exactOptional()
      .describe('By what its requests are recorded. Absent: they are not.'),
    ceiling: ceiling.exactOptional().describe('What its owner may use at most, whatever the key says.'),
    adminSet: z
      .array(z.string())
      .exactOptional()
      .describe(
        'Settings that an administrator has set, which nobody else may change: names of fields, and `limits.<name>`.',
      ),
  })
  .meta({ id: 'Key' });

/**
 * `GET /keys`: the person's own keys and those of their teams; for an admin, all keys. `POST /keys` with a NewKey answers `{ key, raw }`.
 * `PATCH /keys/<id>` with a part of KeySettings answers the key; null removes `expiresAt`, `models`, `tiers` or `tools`.
 * `POST /keys/<id>/rotate` `{ overlapMs }` creates a successor with the same settings, lets the old key expire after that time, and answers
 * `{ key, raw }`. `DELETE /keys/<id>` revokes the key.
 */
export type Key = z.output<typeof keySchema>;

export const createdKeySchema = z
  .object({ key: keySchema, raw: z.string().describe('The key itself. It is shown only this once.') })
  .meta({ id: 'CreatedKey' });

/**
 * The body of `POST /keys`. Admins may create router keys and keys for everybody, and the owners of a team may create its keys. Members may
 * choose the class `high` if the ceiling of the owner allows it.
 */
export interface NewKey extends Omit<KeySettings, 'class'> {
  /** Absent: `normal`. */
  class?: KeySettings['class'];
  kind: 'router' | 'user' | 'team';
  /** The owner of a personal key that an admin makes for somebody else. */
  userId?: string;
  teamId?: string;
}

export const userSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    emailConfirmed: z
      .boolean()
      .describe(
        'Whether somebody else than the person has given or confirmed the address; false: it is only typed in.',
      ),
    role: z.enum(userRoles),
    blocked: z.boolean(),
    refusedByProvider: z
      .literal(true)
      .exactOptional()
      .describe('That the provider of the person does not let them in any more: their personal keys are refused.'),
    limits,
    weight: z.number().describe('Turns in the queue for each one of somebody else with the weight 1.'),
    ceiling: ceiling.describe('What their keys, sessions and programs may use at most.'),
    createdAt: time,
    lastSeenAt: time.exactOptional(),
    provider: z
      .string()
      .exactOptional()
      .describe('The identity provider that their account is linked to. Absent: none.'),
  })
  .meta({ id: 'Person' });

/**
 * `DELETE /account` `{ password }` deletes one's own account, `DELETE /users/<id>` somebody else's (admins). `PATCH /account`
 * `{ name?, alertEmails? }`, `POST /account/email` `{ email, password }` and `PATCH /users/<id>/profile` `{ name?, email? }` (admins; the
 * current address as `email` confirms it) change a name or an address; `alertEmails` switches alerts by e-mail.
 *
 * `GET /users` (admins); `PATCH /users/<id>` `{ role?, blocked?, limits?, weight?, ceiling? }`; `POST /users/<id>/sign-out`;
 * `DELETE /users/<id>/external-account` unlinks a person's account at an identity provider (409: there is none).
 */
export type User = z.output<typeof userSchema>;

export const teamSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    limits,
    weight: z.number().describe('As of a person.'),
    ceiling,
    records: z.boolean().describe('Whether the team is switched to having the requests of its keys recorded.'),
    recording: recordingStateSchema
      .exactOptional()
      .describe('Absent: the requests of its keys are not recorded for it.'),
    createdAt: time,
    members: z.array(z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.enum(teamRoles) })),
  })
  .meta({ id: 'Team' });

/**
 * `GET /teams`: one's own teams; all for an admin. `POST /teams` `{ name }` (admins). `PATCH /teams/<id>`
 * `{ name?, limits?, weight?, ceiling?, records? }` (admins; `records` alone: owners too). `DELETE /teams/<id>` (admins) revokes its keys.
 * `POST /teams/<id>/members` `{ email, role }` adds a person with an account (404 `no_account`), `PUT /teams/<id>/members/<user>`
 * `{ role }` changes the role, `DELETE` removes the member (owners).
 */
export type Team = z.output<typeof teamSchema>;

export const invitationSchema = z
  .object({
    id: z.string(),
    email: z.string(),
    role: z.enum(userRoles),
    teamId: z.string().exactOptional(),
    createdAt: time,
    expiresAt: time,
  })
  .meta({ id: 'Invitation' });

export const createdInvitationSchema = z
  .object({ invitation: invitationSchema, link: z.string().describe('The link to send. It is shown only this once.') })
  .meta({ id: 'CreatedInvitation' });

/** `GET /invitations`; `POST /invitations` `{ email, role, teamId? }` answers `{ invitation, link }`; `DELETE` withdraws one (admins). */
export type Invitation = z.output<typeof invitationSchema>;

export const auditEntrySchema = z
  .object({
    id: z.string(),
    at: time,
    actor: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .describe('Who did it: a person, or an admin token. Null: the command line, or somebody who is not signed in.'),
    action: z.string().describe('As `key.create`, `user.block`, `team.member.add`, `price.change`, `session.refused`.'),
    target: z.object({ kind: z.string(), id: z.string(), name: z.string() }).nullable().describe('What was changed.'),
    details: z.record(z.string(), z.unknown()).describe('Old and new values, never a secret.'),
    from: z
      .object({
        address: z.string().optional(),
        session: z.string().optional(),
        commandLine: z.string().optional(),
        token: z.object({ id: z.string(), name: z.string() }).optional(),
      })
      .optional()
      .describe(
        'A network address, and the id of a session or an admin token; a command line (`ada@workstation`), which may be the one that made the token.',
      ),
    count: z
      .number()
      .optional()
      .describe('Of several changes of the same fields of the same thing: how many there were.'),
    since: time.optional().describe('When the first of them was.'),
  })
  .meta({ id: 'AuditEntry' });

/**
 * `GET /audit`, with the filters `actor=<id>`, `action=<action>` or a group of actions such as `key.*`, `target=<id>`, `from=<ms>` and
 * `to=<ms>`: the newest first, `{ data: AuditEntry[], next? }`, where `cursor=<next>` requests earlier entries.
 * `GET /audit/export?format=csv|json` with the same filters is a file of all entries (admins).
 */
export type AuditEntry = z.output<typeof auditEntrySchema>;

export const settingsSchema = z
  .object({
    invitationDays: z.number().describe("Days until an invitation's link expires."),
    sessionHours: z.number().describe('Hours without a request after which a session expires.'),
    membersMakeKeys: z.boolean().describe('Whether members may create personal keys.'),
    requireSecondFactor: z.boolean().describe('Whether local accounts need a second factor.'),
    auditDays: z.number().describe('Days for which entries of the audit trail are kept.'),
    newMembers: z.object({ limits, ceiling }).describe('What new members begin with.'),
    alertEmails: z
      .object({ router: z.union([z.boolean(), z.array(z.string())]) })
      .describe("Whom the router's alerts are mailed to: administrators (true), nobody (false), or these addresses."),
  })
  .meta({ id: 'Settings' });

/** The answer of `GET /settings` and `PATCH /settings` (admins). */
export type Settings = z.output<typeof settingsSchema>;
