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
 * The Admin API answers with the schemas in this file, and its document is generated from them. The operations in `api/` describe the
 * requests.
 */

const userRoles = ['admin', 'member'] as const;
const teamRoles = ['owner', 'member'] as const;
export type UserRole = (typeof userRoles)[number];
export type TeamRole = (typeof teamRoles)[number];

const time = z.number().describe('Milliseconds since 1970.');
const limits = limitsSchema.meta({
  id: 'Limits',
  description: 'An absent limit does not apply. Days and months are those of UTC. Costs are US dollars.',
});
const ceiling = z
  .object({
    models: z.array(z.string()).exactOptional(),
    tiers: z.array(z.enum(tiers)).exactOptional(),
    maxClass: z.enum(priorityClasses).exactOptional(),
  })
  .meta({
    id: 'Ceiling',
    description:
      'What a person or team may use at most, whatever their keys permit. An absent field does not restrict.',
  });

/**
 * `GET /session`: the signed-in person (401 if nobody is signed in). `POST /session` `{ email, password }` signs in and answers a
 * SignInSession; `DELETE /session` signs out, `DELETE /sessions` signs out everywhere. `POST /password` `{ current, next }` changes the
 * password, signs out everywhere else, and answers a SignInSession with a new token. Too many tries: 429 with `retry-after`.
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
    .describe('Names of tools, and `<server>/*` for all tools of an MCP server. Absent: all tools.'),
  limits,
  weight: z
    .number()
    .exactOptional()
    .describe(
      'The number of requests with this key that leave the queue for each request with another key of the same owner of weight 1. Absent: 1.',
    ),
});

export type KeySettings = z.output<typeof keySettingsSchema>;

export const keySchema = keySettingsSchema
  .extend({
    id: z.string(),
    kind: z.enum(keyKinds),
    owner: z
      .object({ id: z.string(), name: z.string() })
      .exactOptional()
      .describe('The person or team that the key belongs to. Absent for a router key.'),
    classInForce: z
      .enum(priorityClasses)
      .exactOptional()
      .describe(
        "The class of requests with the key. Present if it differs from `class`, because the key's owner may not use that class.",
      ),
    masked: z.string().describe('The key as it is displayed: everything but the middle of the secret.'),
    createdAt: time,
    createdBy: z.string().exactOptional().describe('The name of the person who created the key.'),
    issued: z
      .object({
        by: z.string().exactOptional().describe('The name of the person who issued the key.'),
        storesAs: z.string().describe("The owner of the key's files and batches, `key:<id>`."),
      })
      .exactOptional()
      .describe(
        'Present if an administrator has made the key for an owner whose files the administrator may not read. The key then has files, batches and responses of its own.',
      ),
    revokedAt: time.exactOptional(),
    lastUsedAt: time.exactOptional().describe('The time of the last request with the key, to the minute.'),
    replacedBy: z.string().exactOptional().describe('The id of the key that was made in place of this key.'),
    records: z.boolean().describe('Whether recording is switched on for the key itself.'),
    recording: recordingStateSchema
      .exactOptional()
      .describe('The switch by which requests with the key are recorded. Absent: they are not recorded.'),
    ceiling: ceiling.exactOptional().describe('What the owner of the key may use at most, whatever the key permits.'),
    adminSet: z
      .array(z.string())
      .exactOptional()
      .describe(
        'The settings that only administrators may change, because one of them has set them: names of fields, and `limits.<name>`.',
      ),
  })
  .meta({ id: 'Key' });

/**
 * `GET /keys`: the keys of the person and of their teams; for an admin, all keys. `POST /keys` with a NewKey answers `{ key, raw }`.
 * `PATCH /keys/<id>` with a part of KeySettings answers the key; null removes `expiresAt`, `models`, `tiers` or `tools`.
 * `POST /keys/<id>/rotate` `{ overlapMs }` creates a successor with the same settings, lets the old key expire after that time, and answers
 * `{ key, raw }`. `DELETE /keys/<id>` revokes the key.
 */
export type Key = z.output<typeof keySchema>;

export const createdKeySchema = z
  .object({ key: keySchema, raw: z.string().describe('The key with its secret. It is shown only this once.') })
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
        'Whether somebody other than the person has given or confirmed the address. False: the person has only typed it in.',
      ),
    role: z.enum(userRoles),
    blocked: z.boolean(),
    refusedByProvider: z
      .literal(true)
      .exactOptional()
      .describe("The person's identity provider no longer admits them, so their personal keys are refused."),
    limits,
    weight: z
      .number()
      .describe(
        "The number of the person's requests that leave the queue for each request of somebody with the weight 1.",
      ),
    ceiling: ceiling.describe("What the person's keys, sessions and programs may use at most."),
    createdAt: time,
    lastSeenAt: time.exactOptional(),
    provider: z
      .string()
      .exactOptional()
      .describe(
        "The identity provider of the account that the person's account is linked to. Absent: it is not linked.",
      ),
  })
  .meta({ id: 'Person' });

/**
 * `DELETE /account` `{ password }` deletes the signed-in person, `DELETE /users/<id>` somebody else (admins). `PATCH /account`
 * `{ name?, alertEmails? }` changes the signed-in person's name, and whether they get alerts by e-mail. `POST /account/email`
 * `{ email, password }` changes their address. `PATCH /users/<id>/profile` `{ name?, email? }` (admins) changes a person's name or address;
 * the current address as `email` marks the address as confirmed.
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
    weight: z
      .number()
      .describe(
        "The number of the team's requests that leave the queue for each request of somebody with the weight 1.",
      ),
    ceiling,
    records: z.boolean().describe('Whether recording is switched on for the team.'),
    recording: recordingStateSchema
      .exactOptional()
      .describe(
        "The switch by which requests with the team's keys are recorded. Absent: they are not recorded for the team.",
      ),
    createdAt: time,
    members: z.array(z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.enum(teamRoles) })),
  })
  .meta({ id: 'Team' });

/**
 * `GET /teams`: the person's teams; for an admin, all teams. `POST /teams` `{ name }` (admins). `PATCH /teams/<id>`
 * `{ name?, limits?, weight?, ceiling?, records? }` (admins; `records` alone: owners too). `DELETE /teams/<id>` (admins) also revokes the
 * team's keys.
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

/**
 * `GET /invitations`; `POST /invitations` `{ email, role, teamId? }` answers `{ invitation, link }`; `DELETE /invitations/<id>` withdraws
 * an invitation (admins).
 */
export type Invitation = z.output<typeof invitationSchema>;

export const auditEntrySchema = z
  .object({
    id: z.string(),
    at: time,
    actor: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .describe(
        'The person or admin token that made the change. Null: the command line, or somebody who is not signed in.',
      ),
    action: z
      .string()
      .describe('For example `key.create`, `user.block`, `team.member.add`, `price.change` or `session.refused`.'),
    target: z.object({ kind: z.string(), id: z.string(), name: z.string() }).nullable().describe('What was changed.'),
    details: z.record(z.string(), z.unknown()).describe('Old and new values. Never contains a secret.'),
    from: z
      .object({
        address: z.string().optional(),
        session: z.string().optional(),
        commandLine: z.string().optional(),
        token: z.object({ id: z.string(), name: z.string() }).optional(),
      })
      .optional()
      .describe(
        'From where the change was made: a network address, a sign-in session or an admin token, and the command line (`ada@workstation`) that made the change or the token.',
      ),
    count: z
      .number()
      .optional()
      .describe(
        'The number of changes, if the entry stands for several changes of the same fields of the same target.',
      ),
    since: time.optional().describe('The time of the first of these changes.'),
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
    newMembers: z.object({ limits, ceiling }).describe('The limits and ceiling of new members.'),
    alertEmails: z
      .object({ router: z.union([z.boolean(), z.array(z.string())]) })
      .describe("Who gets the router's alerts by e-mail: administrators (true), nobody (false), or these addresses."),
  })
  .meta({ id: 'Settings' });

/** The answer of `GET /settings` and `PATCH /settings` (admins). */
export type Settings = z.output<typeof settingsSchema>;
