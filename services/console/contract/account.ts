import type { Limits } from '#shared/accounts/limits/limits.ts';
import type { Ceiling } from '#shared/accounts/people/ceiling.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';

/*
 * The contract between the console's pages and its API: people, teams and keys. All paths are below `/console/api`.
 * Times are milliseconds since 1970. A failure is `{ error: { code, message, field? } }` with an HTTP status; `field`
 * names the invalid input.
 *
 * Every request but a GET carries the header `x-csrf-token` with the session's token.
 */

export type UserRole = 'admin' | 'member';
export type TeamRole = 'owner' | 'member';

/**
 * `GET /session`: who is signed in (401: nobody). `POST /session` `{ email, password }` signs in and answers a Session;
 * `DELETE /session` signs out, `DELETE /sessions` signs out everywhere. `POST /password` `{ current, next }` changes the
 * password, signs out everywhere else, and answers a Session with a new token. Too many attempts: 429 with `retry-after`.
 */
export interface Session {
  user: {
    id: string;
    name: string;
    email: string;
    role: UserRole;
    teams: { id: string; name: string; role: TeamRole }[];
    /** Absent where the person signs in at a provider only. */
    hasPassword?: true;
  };
  csrfToken: string;
}

/**
 * `GET /links/<token>`: what a one-time link is for (404: unknown, used or expired). `POST /links/<token>`
 * `{ name, email, password }` creates the account, uses the link up, signs in, and answers a Session. An invitation has its
 * own address, so that `email` is ignored. A link of the kind `password` sets a new password of an existing account: `name`
 * and `email` are ignored.
 */
export interface Link {
  kind: 'first-admin' | 'invitation' | 'password';
  email?: string;
}

/**
 * `GET /keys`: the keys that the signed-in person may see: their own and those of their teams; for an admin, all.
 * `POST /keys` with a NewKey answers `{ key, raw }`. `PATCH /keys/<id>` with a part of KeySettings answers the key; null
 * removes `expiresAt`, `models`, `tiers` or `tools`. `POST /keys/<id>/rotate` `{ overlapMs }` creates a successor with the same
 * settings, lets the old key expire after that time, and answers `{ key, raw }`. `DELETE /keys/<id>` revokes the key.
 */
export interface Key extends KeySettings {
  id: string;
  kind: 'router' | 'user' | 'team';
  /** The person or team it belongs to; absent for a router key. */
  owner?: { id: string; name: string };
  /** The key as it is displayed: everything but the middle of the secret. */
  masked: string;
  createdAt: number;
  /** The name of the person who created it. */
  createdBy?: string;
  expiresAt?: number;
  revokedAt?: number;
  /** Time of the last request, to the minute. */
  lastUsedAt?: number;
  /** What its owner may use at most, whatever the key says; absent: not restricted. */
  ceiling?: Ceiling;
  /** Settings that an administrator has set, which nobody else may change: names of fields, and `limits.<name>`. */
  adminSet?: string[];
}

/** The settings of a key that can be changed. */
export interface KeySettings {
  name: string;
  class: PriorityClass;
  expiresAt?: number;
  /** Absent: all models, all tiers. */
  models?: string[];
  tiers?: Tier[];
  /** Names of tools, and `<server>/*` for all tools of an MCP server; absent: all. */
  tools?: string[];
  limits: Limits;
  /** Turns in the queue for each one of another key of the same owner; absent: 1. */
  weight?: number;
}

/**
 * Admins may create router keys and keys for everybody, a team's owners its keys. Members may choose the class `high` where the ceiling of
 * the owner says so.
 */
export interface NewKey extends KeySettings {
  kind: 'router' | 'user' | 'team';
  /** For a personal key of somebody else (admins). */
  userId?: string;
  /** For a team key. */
  teamId?: string;
}

/**
 * `DELETE /account` `{ password }` deletes one's own account, `DELETE /users/<id>` somebody's (admins). `PATCH /account` `{ name }`, `POST
 * /account/email` `{ email, password }` and `PATCH /users/<id>/profile` `{ name?, email? }` (admins) change what somebody is called.
 *
 * `GET /users` (admins); `PATCH /users/<id>` `{ role?, blocked?, limits?, weight?, ceiling? }`; `POST /users/<id>/sign-out`.
 */
export interface User {
  id: string;
  name: string;
  email: string;
  role: UserRole;
  blocked: boolean;
  limits: Limits;
  /** Turns in the queue for each one of somebody else with the weight 1. */
  weight: number;
  /** What their keys, sessions and programs may use at most. */
  ceiling: Ceiling;
  createdAt: number;
  lastSeenAt?: number;
}

/**
 * `GET /teams`: one's own; for an admin, all; `POST /teams` `{ name }` (admins); `PATCH /teams/<id>`
 * `{ name?, limits?, weight?, ceiling? }` (name: owners; all others: admins); `DELETE /teams/<id>` (admins) revokes its keys;
 * `POST /teams/<id>/members` `{ email, role }` adds somebody who has an account (404 `no_account`), `PUT /teams/<id>/members/<user>` `{ role }`
 * and `DELETE` the same (owners).
 */
export interface Team {
  id: string;
  name: string;
  limits: Limits;
  /** As of a person. */
  weight: number;
  ceiling: Ceiling;
  createdAt: number;
  members: { id: string; name: string; email: string; role: TeamRole }[];
}

/** `GET /invitations`, `POST /invitations` `{ email, role, teamId? }` answers `{ invitation, link }`, `DELETE` one (admins). */
export interface Invitation {
  id: string;
  email: string;
  role: UserRole;
  teamId?: string;
  createdAt: number;
  expiresAt: number;
}

/** `GET /audit?before=<id>`: the newest first, a page of 100 (admins). */
export interface AuditEntry {
  id: string;
  at: number;
  actor: { id: string; name: string } | null;
  /** As `key.create`, `user.block`, `team.member.add`, `price.change`, `session.refused`. */
  action: string;
  /** The changed resource. */
  target: { kind: string; id: string; name: string } | null;
  /** Old and new values, never a secret. */
  details: Record<string, unknown>;
  /** Where it came from: a network address and the id of a session, or a command line (`ada@workstation`). */
  from?: { address?: string | undefined; session?: string | undefined; commandLine?: string | undefined } | undefined;
  /** Of several changes of the same fields of the same thing: how many there were from `since` to `at`. */
  count?: number;
  since?: number;
}

/** `GET /settings`, `PATCH /settings` (admins). */
export interface Settings {
  /** Days until an invitation's link expires. */
  invitationDays: number;
  /** Hours without a request after which a session expires. */
  sessionHours: number;
  /** Whether members may create personal keys. */
  membersMakeKeys: boolean;
  /** Whether local accounts need a second factor. */
  requireSecondFactor: boolean;
  /** What new members begin with. */
  newMembers: { limits: Limits; ceiling: Ceiling };
}
