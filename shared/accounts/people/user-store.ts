import type { Redis } from 'ioredis';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { askRedis, askRedisAll } from '../redis/ask-redis.ts';
import { limitNames, type Limits } from '../limits/limits.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { StoredRecords, type ReportUnreadable } from '../redis/stored-records.ts';
import { replaceJson, storedFields } from '../redis/stored-value.ts';
import { mintId } from '../keys/mint-key.ts';
import { ceilingNames, type Ceiling } from './ceiling.ts';
import { userRecordSchema, type UserRecord, type UserRole } from './user.ts';

const createUser = new RedisScript(new URL('lua/create-user.lua', import.meta.url));
const changePassword = new RedisScript(new URL('lua/change-password.lua', import.meta.url));
const changeEmail = new RedisScript(new URL('lua/change-email.lua', import.meta.url));
const noteEmail = new RedisScript(new URL('lua/note-email.lua', import.meta.url));
const refuseUser = new RedisScript(new URL('lua/refuse-user.lua', import.meta.url));
const renameUser = new RedisScript(new URL('lua/rename-user.lua', import.meta.url));
const setAlertEmails = new RedisScript(new URL('lua/set-alert-emails.lua', import.meta.url));
const changeUser = new RedisScript(new URL('lua/change-user.lua', import.meta.url));

/** What of a person an administrator can change. */
export interface UserChange {
  name?: string | undefined;
  role?: UserRole | undefined;
  blocked?: boolean | undefined;
  limits?: Limits | undefined;
  weight?: number | undefined;
  ceiling?: Ceiling | undefined;
}

/** Somebody who is given an account before they sign in. */
export type NewUser = Pick<UserRecord, 'name' | 'email' | 'role' | 'limits' | 'weight' | 'ceiling'>;

/**
 * The people, in Redis. They are made by links (see LinkStore), by providers (see ExternalAccounts), and by administrators. Every method
 * throws `store_unavailable` as KeyStore does.
 */
export class UserStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #records: StoredRecords<UserRecord>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    const names = accountNames(prefix);
    this.#redis = redis;
    this.#names = names;
    this.#records = new StoredRecords(redis, { kind: 'user', schema: userRecordSchema, nameOf: names.user, report });
  }

  /** A person, blocked or not; undefined when there is none. @throws UnreadableRecordError */
  find(id: string): Promise<UserRecord | undefined> {
    return this.#records.find(id);
  }

  /** Those of these people that there are and whose records can be read. */
  findAll(ids: readonly string[]): Promise<UserRecord[]> {
    return this.#records.findAll(ids);
  }

  /** The person with this address, in as many steps whether there is one or not. */
  async findByEmail(email: string): Promise<UserRecord | undefined> {
    const id = await askRedis(this.#redis.hget(this.#names.userEmails, email));
    return this.find(id ?? 'nobody');
  }

  /** Everybody whose record can be read, in the order in which they came. */
  async list(): Promise<UserRecord[]> {
    return this.findAll(await askRedis(this.#redis.zrange(this.#names.users, '0', '-1')));
  }

  /** The names of people, by id, of those there are. */
  async namesOf(ids: readonly string[]): Promise<Map<string, string>> {
    const names = await Promise.all(ids.map((id) => askRedis(this.#redis.hget(this.#names.user(id), 'name'))));
    return new Map(ids.flatMap((id, at) => (names[at] ? [[id, names[at]]] : [])));
  }

  /** Makes the account of somebody who signs in later: with a link for a password, or at a provider with this address. */
  async create(person: NewUser): Promise<UserRecord | 'email taken'> {
    // No password matches an empty hash.
    const made = { id: mintId(), passwordHash: '', epoch: 0, createdAt: Date.now(), confirmedEmail: person.email };
    const user: UserRecord = { ...person, ...made };
    const { userEmails, user: record, users, admins } = this.#names;
    const { id: userId, email, role, createdAt } = user;
    const keys = [userEmails, record(userId), users, admins];
    const args = { userId, email, createdAt, isAdmin: role === 'admin', fields: storedFields(user) };
    const outcome = await createUser.run(this.#redis, { keys, args });
    return outcome === 'created' ? user : 'email taken';
  }

  /**
   * Changes what is given, all of it or nothing. Blocking ends all sessions and admin tokens of the person, and deletes their connections
   * to MCP servers. The last administrator cannot be lost; the open invitations of another one who is lost are withdrawn.
   * @param ifRevision the revision that the change is for; at another one it is `stale`
   */
  async change(
    id: string,
    { name, role, blocked, limits, weight, ceiling }: UserChange,
    now: number,
    ifRevision?: number,
  ): Promise<UserChangeOutcome> {
    const { user, admins, invitations, invitation, invitationLink, connectionsOf } = this.#names;
    const names = [user(id), admins, invitations, connectionsOf(id)];
    const prefixes = { invitationPrefix: invitation(''), linkPrefix: invitationLink('') };
    const stored = limits && replaceJson(await askRedis(this.#redis.hget(user(id), 'limits')), limits, limitNames);
    const storedCeiling =
      ceiling && replaceJson(await askRedis(this.#redis.hget(user(id), 'ceiling')), ceiling, ceilingNames);
    const args = {
      id,
      now,
      ifRevision,
      name,
      role,
      blocked,
      limits: stored,
      weight,
      ceiling: storedCeiling,
      ...prefixes,
    };
    return (await changeUser.run(this.#redis, { keys: names, args })) as UserChangeOutcome;
  }

  /** Replaces the password that was proven by a new one, and ends all sessions and admin tokens. False: it was changed meanwhile. */
  async changePassword(id: string, provenHash: string, newHash: string): Promise<boolean> {
    const keys = [this.#names.user(id)];
    return (await changePassword.run(this.#redis, { keys, args: { provenHash, newHash } })) === 1;
  }

  /** Gives a person another name. False when there is no such person. */
  async rename(id: string, name: string): Promise<boolean> {
    return (await renameUser.run(this.#redis, { keys: [this.#names.user(id)], args: { name } })) === 1;
  }

  /** Sets whether a person wants alerts by e-mail. False when there is no such person. */
  async setAlertEmails(id: string, wanted: boolean): Promise<boolean> {
    return (await setAlertEmails.run(this.#redis, { keys: [this.#names.user(id)], args: { wanted } })) === 1;
  }

  /**
   * Changes the address of a person, and ends all their sessions and admin tokens.
   * @param by the person, who has proven nothing with it, or somebody else, who confirms it
   */
  async changeEmail(id: string, email: string, by: 'the person' | 'somebody else'): Promise<EmailChangeOutcome> {
    const { userEmails, user, invitations, invitation } = this.#names;
    const isConfirmed = by === 'somebody else';
    const args = { userId: id, email, isConfirmed, invitationPrefix: invitation('') };
    const keys = [userEmails, user(id), invitations];
    return (await changeEmail.run(this.#redis, { keys, args })) as EmailChangeOutcome;
  }

  /** Notes that an address is confirmed, that its person has come in with it, or both. It counts while the person has this address. */
  async noteEmail(id: string, email: string, facts: { confirmed?: true; used?: true }): Promise<void> {
    const noted = { confirmedEmail: facts.confirmed && email, usedEmail: facts.used && email };
    await noteEmail.run(this.#redis, { keys: [this.#names.user(id)], args: { fields: storedFields(noted) } });
  }

  /** Ends all sessions, programs and admin tokens of a person who exists. */
  async signOut(id: string): Promise<void> {
    const user = this.#names.user(id);
    await askRedisAll(this.#redis.multi().hincrby(user, 'epoch', 1).hincrby(user, 'tokenEpoch', 1));
  }

  /**
   * The same for somebody whose provider does not let them in any more.
   * @param endsKeys whether their keys are refused as well, until it does, or they have a password
   * @param turn that of their account when the provider was asked, `''` where it has none; absent: any
   * @returns false where nothing has ended, because they have signed in there since, or are gone
   */
  async refuse(id: string, { endsKeys = true, turn }: { endsKeys?: boolean; turn?: string } = {}): Promise<boolean> {
    const keys = [this.#names.user(id), this.#names.externalAccount(id)];
    return (await refuseUser.run(this.#redis, { keys, args: { now: Date.now(), endsKeys, turn } })) === 1;
  }

  /** Ends all sessions and programs of a person who exists, and leaves their admin tokens. */
  async endSessions(id: string): Promise<void> {
    await askRedis(this.#redis.hincrby(this.#names.user(id), 'epoch', 1));
  }
}

/** How a change of an address ended. `invited`: there is an open invitation to it. */
export type EmailChangeOutcome = 'changed' | 'email taken' | 'invited' | 'unknown';

export type UserChangeOutcome = 'changed' | 'stale' | 'last admin' | 'unknown';
