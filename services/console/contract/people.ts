import { z } from 'zod';
import { ceiling, limits, time } from './conventions.ts';
import { recordingStateSchema } from './recordings.ts';

/*
 * The contract between the console's pages and its API: people, teams, invitations and settings. The rules of `conventions.ts` apply.
 */

const userRoles = ['admin', 'member'] as const;
const teamRoles = ['owner', 'member'] as const;
export type UserRole = (typeof userRoles)[number];
export type TeamRole = (typeof teamRoles)[number];

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
