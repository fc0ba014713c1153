import type { Limits } from '#shared/accounts/limits/limits.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';

/*
 * What the console's pages and its API say to each other about people, teams and keys. Every path is below
 * `/console/api`. Times are milliseconds since 1970. A failure is `{ error: { code, message, field? } }` with a status
 * of HTTP; `field` names the input that is wrong.
 *
 * Whatever is not a GET carries the header `x-csrf-token` with the session's token.
 */

export type UserRole = 'admin' | 'member';
export type TeamRole = 'owner' | 'member';

/**
 * `GET /session`: who is signed in (401: nobody). `POST /session` signs in with `{ email, password }` and answers the
 * same; `DELETE /session` signs out, `DELETE /sessions` everywhere. `POST /password` `{ current, next }` changes the
 * password, signs out everywhere else, and answers the same with a new token. Too many attempts: 429 with `retry-after`.
 */
export interface Session {
  user: {
    id: string;
    name: string;
    email: string;
    role: UserRole;
    teams: { id: string; name: string; role: TeamRole }[];
  };
  csrfToken: string;
}

/**
 * `GET /links/<token>`: what a one-time link is for (404: unknown, used or too old). `POST /links/<token>`
 * `{ name, email, password }` makes the account, uses the link up, signs in, and answers a Session. Of an invitation
 * the address is given, and the one that is sent counts for nothing. A link of the kind `password` is for somebody who
 * has an account: it sets a new password, and name and address count for nothing.
 */
export interface Link {
  kind: 'first-admin' | 'invitation' | 'password';
  email?: string;
}

/**
 * `GET /keys`: the keys that the signed-in person may see: the own ones, those of the own teams, for an admin all.
 * `POST /keys` with a NewKey answers `{ key, raw }`; `PATCH /keys/<id>` with a part of KeySettings answers the key
 * (null takes `expiresAt`, `models` or `tiers` away);
 * `POST /keys/<id>/rotate` `{ overlapMs }` makes a successor with the same settings and lets the old one expire after
 * that time: `{ key, raw }`; `DELETE /keys/<id>` revokes for good.
 */
export interface Key extends KeySettings {
  id: string;
  kind: 'router' | 'user' | 'team';
  /** The person or team it belongs to; absent for a router key. */
  owner?: { id: string; name: string };
  /** As shown for recognition: everything but the middle of the secret. */
  masked: string;
  createdAt: number;
  /** The name of the person who made it. */
  createdBy?: string;
  expiresAt?: number;
  revokedAt?: number;
  /** Of the last request, to the minute. */
  lastUsedAt?: number;
}

/** What of a key can be changed. */
export interface KeySettings {
  name: string;
  class: PriorityClass;
  expiresAt?: number;
  /** Absent: all models, all tiers. */
  models?: string[];
  tiers?: Tier[];
  limits: Limits;
}

/** Router keys only for admins, a team's for its owners; a member may not choose the class `high`. */
export interface NewKey extends KeySettings {
  kind: 'router' | 'user' | 'team';
  /** For a team key. */
  teamId?: string;
}

/** `GET /users` (admins); `PATCH /users/<id>` `{ role?, blocked?, limits? }`; `POST /users/<id>/sign-out`. */
export interface User {
  id: string;
  name: string;
  email: string;
  role: UserRole;
  blocked: boolean;
  limits: Limits;
  createdAt: number;
  lastSeenAt?: number;
}

/**
 * `GET /teams`: the own ones, for an admin all; `POST /teams` `{ name }` (admins); `PATCH /teams/<id>`
 * `{ name?, limits? }` (limits: admins; name: owners too); `DELETE /teams/<id>` (admins) revokes its keys;
 * `PUT /teams/<id>/members/<user>` `{ role }` and `DELETE` the same (owners).
 */
export interface Team {
  id: string;
  name: string;
  limits: Limits;
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
  /** What was changed. */
  target: { kind: string; id: string; name: string } | null;
  /** Old and new values, never a secret. */
  details: Record<string, unknown>;
  /** Of several changes of the same fields of the same thing: how many there were from `since` to `at`. */
  count?: number;
  since?: number;
}

/** `GET /settings`, `PATCH /settings` (admins). */
export interface Settings {
  /** Days until an invitation's link expires. */
  invitationDays: number;
  /** Hours without a request after which a session ends. */
  sessionHours: number;
  /** Whether members may make personal keys. */
  membersMakeKeys: boolean;
}
