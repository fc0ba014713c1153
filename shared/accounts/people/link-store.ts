import type { Redis } from 'ioredis';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { generateId } from '../keys/generate-key.ts';
import { firstKeyName, keyStarts } from '../keys/key-format.ts';
import { storedNamesOfOwner } from './owned-kinds.ts';
import { toStoredFields } from '#shared/store/redis/stored-value.ts';
import type { InvitationRecord, InvitationStore } from './invitation-store.ts';
import { isToken, generateToken, hashToken } from './secret-token.ts';
import type { NewPersonSettings } from './console-settings.ts';
import { hasUsedAccount, isShutOut, type UserRecord } from './user.ts';
import type { UserStore } from './user-store.ts';

const acceptInvitation = new RedisScript(new URL('lua/accept-invitation.lua', import.meta.url));
const createFirstAdmin = new RedisScript(new URL('lua/create-first-admin.lua', import.meta.url));
const issueFirstAdminLink = new RedisScript(new URL('lua/issue-first-admin-link.lua', import.meta.url));
const resetPassword = new RedisScript(new URL('lua/reset-password.lua', import.meta.url));

/** Milliseconds for which a new link can be used. This does not apply to the link of an invitation. */
export const linkUsableMs = 24 * 3_600_000;

/**
 * End of the stored text of a link that is valid only for a person who never used their account. `reset-password.lua` reads this suffix,
 * too.
 */
const unusedAccountSuffix = ':first';

/**
 * What a one-time link permits: to become the first administrator, to accept an invitation, or to set a new password. `isPrinted`: an
 * operator has printed the link; otherwise an administrator has made it.
 */
export type Link =
  | { kind: 'first-admin' }
  | { kind: 'invitation'; invitation: InvitationRecord }
  | { kind: 'password'; user: UserRecord; isPrinted: boolean };

export interface NewPerson {
  name: string;
  email: string;
  passwordHash: string;
}

/**
 * The one-time links, in Redis. Their tokens are stored only as SHA-256. Every method throws `store_unavailable` while Redis is
 * unavailable.
 */
export class LinkStore {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #names: AccountNames;
  readonly #users: UserStore;
  readonly #invitations: InvitationStore;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, users: UserStore, invitations: InvitationStore) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#names = accountNames(prefix);
    this.#users = users;
    this.#invitations = invitations;
  }

  /**
   * Issues a link for the first administrator, which replaces an earlier link. Returns undefined if there is an administrator who is not
   * blocked.
   */
  async issueFirstAdmin(): Promise<string | undefined> {
    const token = generateToken();
    const { firstAdminLink, admins } = this.#names;
    const args = { tokenHash: hashToken(token), usableMs: linkUsableMs };
    const reply = await issueFirstAdminLink.run(this.#redis, { keys: [firstAdminLink, admins], args });
    return reply === 1 ? token : undefined;
  }

  /**
   * Issues a link with which a person can set a new password without the old one. The link is valid only in the person's current epoch. So
   * it becomes void when the person gets a new password, is blocked, or is signed out everywhere.
   */
  async issuePassword(userId: string): Promise<string> {
    return this.#issuePassword(userId, '');
  }

  /**
   * Issues a link as `issuePassword` does, for a person who has never used their account. Any use of the account makes the link void.
   * @returns undefined for a person who has used their account
   */
  async issueFirstPassword(user: UserRecord): Promise<string | undefined> {
    return (await this.#hasUsedAccount(user)) ? undefined : this.#issuePassword(user.id, unusedAccountSuffix);
  }

  /** Removes the second factors of a person who has lost them. */
  async removeSecondFactor(userId: string): Promise<void> {
    await callRedis(this.#redis.del(this.#names.secondFactor(userId)));
  }

  /** Returns what a link permits; undefined for a link that is unknown, used or too old. */
  async find(token: string): Promise<Link | undefined> {
    if (!isToken(token)) return undefined;
    const hash = hashToken(token);
    const { firstAdminLink, invitationLink, passwordLink } = this.#names;
    const names = [firstAdminLink, invitationLink(hash), passwordLink(hash)];
    const [firstAdmin, invitationId, password] = await callRedis(this.#redis.mget(...names));
    if (firstAdmin === hash) return { kind: 'first-admin' };
    const invitation = invitationId ? await this.#invitations.find(invitationId) : undefined;
    if (invitation) return (await this.#isValidInvitation(invitation)) ? { kind: 'invitation', invitation } : undefined;
    const [userId, epoch, suffix] = password?.split(':') ?? [];
    const user = userId ? await this.#users.find(userId) : undefined;
    if (!user || user.blockedAt !== undefined || String(user.epoch) !== epoch) return undefined;
    if (suffix !== undefined && (await this.#hasUsedAccount(user))) return undefined;
    return { kind: 'password', user, isPrinted: suffix === undefined };
  }

  /**
   * Creates the first administrator, to whom the first router key then belongs. Returns `no link` if the link was used meanwhile. The change
   * of the keys is not announced.
   */
  async createFirstAdmin(token: string, person: NewPerson): Promise<UserRecord | 'no link' | 'email taken'> {
    const user = createUserRecord(person, 'admin');
    const { firstAdminLink, admins, userEmails, user: record, users, firstRouterKey, keysOf, key } = this.#names;
    const keys = [firstAdminLink, admins, userEmails, record(user.id), users, firstRouterKey, keysOf(user.id)];
    const args = {
      tokenHash: hashToken(token),
      ...toUserScriptArgs(user),
      firstKey: { name: firstKeyName, prefix: key(''), start: keyStarts.router },
      stored: storedNamesOfOwner.map((name) => this.#prefix + name),
    };
    const outcome = await createFirstAdmin.run(this.#redis, { keys, args });
    return outcome === 'created' ? user : (outcome as 'no link' | 'email taken');
  }

  /** Creates the account of an invited person. Returns `no link` if the link was used meanwhile. */
  async acceptInvitation(
    token: string,
    { id, email, role, teamId }: InvitationRecord,
    person: Omit<NewPerson, 'email'>,
    initialSettings: NewPersonSettings,
  ): Promise<UserRecord | 'no link' | 'email taken'> {
    const user = { ...createUserRecord({ ...person, email }, role), ...initialSettings };
    const names = this.#names;
    const keys = [
      names.invitationLink(hashToken(token)),
      names.invitation(id),
      names.invitations,
      names.userEmails,
      names.user(user.id),
      names.users,
      names.admins,
      names.teamsOf(user.id),
      names.team(teamId ?? ''),
      names.membersOf(teamId ?? ''),
    ];
    const args = { invitationId: id, teamId, ...toUserScriptArgs(user) };
    const outcome = await acceptInvitation.run(this.#redis, { keys, args });
    return outcome === 'created' ? user : (outcome as 'no link' | 'email taken');
  }

  /**
   * Sets the password of the person for whom a link was made, and ends all their sign-in sessions.
   * @returns undefined if the link was used or became void meanwhile
   */
  async resetPassword(token: string, userId: string, passwordHash: string): Promise<UserRecord | undefined> {
    const { passwordLink, user, externalAccount } = this.#names;
    const keys = [passwordLink(hashToken(token)), user(userId), externalAccount(userId)];
    const reply = await resetPassword.run(this.#redis, { keys, args: { userId, newHash: passwordHash } });
    return reply === 1 ? this.#users.find(userId) : undefined;
  }

  async #issuePassword(userId: string, suffix: '' | typeof unusedAccountSuffix): Promise<string> {
    const token = generateToken();
    const epoch = await callRedis(this.#redis.hget(this.#names.user(userId), 'epoch'));
    const link = this.#names.passwordLink(hashToken(token));
    await callRedis(this.#redis.set(link, `${userId}:${epoch}${suffix}`, 'PX', linkUsableMs));
    return token;
  }

  /** Returns whether an invitation is valid. It is void while the administrator who made it is blocked or refused by their provider. */
  async #isValidInvitation({ invitedBy }: InvitationRecord): Promise<boolean> {
    const inviter = await this.#users.find(invitedBy);
    return inviter === undefined || !isShutOut(inviter);
  }

  /**
   * Returns whether anybody has used this person's account. Without any use, there are no keys that have stored anything for the person.
   */
  async #hasUsedAccount(user: UserRecord): Promise<boolean> {
    return hasUsedAccount(user) || (await callRedis(this.#redis.exists(this.#names.externalAccount(user.id)))) === 1;
  }
}

function createUserRecord({ name, email, passwordHash }: NewPerson, role: UserRecord['role']): UserRecord {
  const address = { email, confirmedEmail: email, usedEmail: email };
  return { id: generateId(), name, ...address, role, passwordHash, epoch: 0, createdAt: Date.now() };
}

function toUserScriptArgs(user: UserRecord) {
  const { id: userId, email, createdAt } = user;
  return { userId, email, createdAt, fields: toStoredFields(user) };
}
