import type { Redis } from 'ioredis';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { limitNames, type Limits } from '../limits/limits.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { replaceJson, toStoredFields } from '#shared/store/redis/stored-value.ts';
import { generateId } from '../keys/generate-key.ts';
import { ceilingNames, type Ceiling } from './ceiling.ts';
import { userRecordSchema, type UserRecord, type UserRole } from './user.ts';

const createUser = new RedisScript(new URL('lua/create-user.lua', import.meta.url));
const changePassword = new RedisScript(new URL('lua/change-password.lua', import.meta.url));
const changeEmail = new RedisScript(new URL('lua/change-email.lua', import.meta.url));
const noteEmail = new RedisScript(new URL('lua/note-email.lua', import.meta.url));
const refuseUser = new RedisScript(new URL('lua/refuse-user.lua', import.meta.url));
const setAlertEmails = new RedisScript(new URL('lua/set-alert-emails.lua', import.meta.url));
const changeUser = new RedisScript(new URL('lua/change-user.lua', import.meta.url));

export interface UserChange {
  name?: string | undefined;
  role?: UserRole | undefined;
  blocked?: boolean | undefined;
  limits?: Limits | undefined;
  weight?: number | undefined;
  ceiling?: Ceiling | undefined;
}

/** A person who gets an account before they sign in. */
export type NewUser = Pick<UserRecord, 'name' | 'email' | 'role' | 'limits' | 'weight' | 'ceiling'>;

/**
 * The people, in Redis. Links (see LinkStore), sign-ins at providers (see ExternalAccounts) and administrators create them. Every method
 * throws `store_unavailable` while Redis is unavailable.
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

  /**
   * Returns a person, blocked or not; undefined if there is no such person.
   * @throws UnreadableRecordError
   */
  find(id: string): Promise<UserRecord | undefined> {
    return this.#records.find(id);
  }

  findAll(ids: readonly string[]): Promise<UserRecord[]> {
    return this.#records.findAll(ids);
  }

  /** Returns the person with this address. Makes the same number of calls whether or not there is such a person. */
  async findByEmail(email: string): Promise<UserRecord | undefined> {
    const id = await callRedis(this.#redis.hget(this.#names.userEmails, email));
    return this.find(id ?? 'nobody');
  }

  /** Returns every person whose record can be read, in the order of creation. */
  async list(): Promise<UserRecord[]> {
    return this.findAll(await callRedis(this.#redis.zrange(this.#names.users, '0', '-1')));
  }

  /** Returns the names of those people who exist, by id. */
  async readNames(ids: readonly string[]): Promise<Map<string, string>> {
    const names = await Promise.all(ids.map((id) => callRedis(this.#redis.hget(this.#names.user(id), 'name'))));
    return new Map(ids.flatMap((id, index) => (names[index] ? [[id, names[index]]] : [])));
  }

  /**
   * Creates the account of a person who signs in later, either after setting a password with a link, or at a provider with this address.
   */
  async create(person: NewUser): Promise<UserRecord | 'email taken'> {
    // No password matches an empty hash.
    const defaults = {
      id: generateId(),
      passwordHash: '',
      epoch: 0,
      createdAt: Date.now(),
      confirmedEmail: person.email,
    };
    const user: UserRecord = { ...person, ...defaults };
    const { userEmails, user: record, users, admins } = this.#names;
    const { id: userId, email, role, createdAt } = user;
    const keys = [userEmails, record(userId), users, admins];
    const args = { userId, email, createdAt, isAdmin: role === 'admin', fields: toStoredFields(user) };
    const outcome = await createUser.run(this.#redis, { keys, args });
    return outcome === 'created' ? user : 'email taken';
  }

  /**
   * Changes the defined fields of the second argument, either all of them or none. Blocking ends all sign-in sessions and admin tokens of
   * the person, and deletes their MCP account links. The last administrator can be neither blocked nor made a member. When another
   * administrator is blocked or becomes a member, their open invitations are withdrawn. Returns the record before the change, or why nothing
   * was changed.
   * @param ifRevision if the record has another revision, nothing is changed, and the outcome is `stale`
   */
  async change(
    id: string,
    { name, role, blocked, limits, weight, ceiling }: UserChange,
    now: number,
    ifRevision?: number,
  ): Promise<UserRecord | UserChangeRefusal> {
    const { user, admins, invitations, invitation, invitationLink, connectionsOf } = this.#names;
    const names = [user(id), admins, invitations, connectionsOf(id)];
    const prefixes = { invitationPrefix: invitation(''), linkPrefix: invitationLink('') };
    const storedLimits =
      limits && replaceJson(await callRedis(this.#redis.hget(user(id), 'limits')), limits, limitNames);
    const storedCeiling =
      ceiling && replaceJson(await callRedis(this.#redis.hget(user(id), 'ceiling')), ceiling, ceilingNames);
    const args = {
      id,
      now,
      ifRevision,
      name,
      role,
      blocked,
      limits: storedLimits,
      weight,
      ceiling: storedCeiling,
      ...prefixes,
    };
    const outcome = (await changeUser.run(this.#redis, { keys: names, args })) as string[] | UserChangeRefusal;
    return typeof outcome === 'string' ? outcome : this.#records.parse(id, toFields(outcome));
  }

  /**
   * Replaces the verified password by a new one, and ends all sign-in sessions and admin tokens. Returns false if the password was changed
   * meanwhile.
   */
  async changePassword(id: string, provenHash: string, newHash: string): Promise<boolean> {
    const keys = [this.#names.user(id)];
    return (await changePassword.run(this.#redis, { keys, args: { provenHash, newHash } })) === 1;
  }

  /** Sets whether a person wants alerts by e-mail. Returns false when there is no such person. */
  async setAlertEmails(id: string, wanted: boolean): Promise<boolean> {
    return (await setAlertEmails.run(this.#redis, { keys: [this.#names.user(id)], args: { wanted } })) === 1;
  }

  /**
   * Changes the address of a person, and ends all their sign-in sessions and admin tokens.
   * @param by who sets the address; an address that somebody else sets is confirmed
   */
  async changeEmail(id: string, email: string, by: 'the person' | 'somebody else'): Promise<EmailChangeOutcome> {
    const { userEmails, user, invitations, invitation } = this.#names;
    const isConfirmed = by === 'somebody else';
    const args = { userId: id, email, isConfirmed, invitationPrefix: invitation('') };
    const keys = [userEmails, user(id), invitations];
    return (await changeEmail.run(this.#redis, { keys, args })) as EmailChangeOutcome;
  }

  /**
   * Stores that an address is confirmed, that the person has signed in with it, or both. These facts apply only while the person has this
   * address.
   */
  async noteEmail(id: string, email: string, facts: { confirmed?: true; used?: true }): Promise<void> {
    const noted = { confirmedEmail: facts.confirmed && email, usedEmail: facts.used && email };
    await noteEmail.run(this.#redis, { keys: [this.#names.user(id)], args: { fields: toStoredFields(noted) } });
  }

  /** Ends all sign-in sessions, programs and admin tokens of an existing person. */
  async signOut(id: string): Promise<void> {
    const user = this.#names.user(id);
    await callRedisAll(this.#redis.multi().hincrby(user, 'epoch', 1).hincrby(user, 'tokenEpoch', 1));
  }

  /**
   * Ends all sign-in sessions, programs and admin tokens of a person whom their provider refuses.
   * @param endsKeys whether their keys are refused as well, until they sign in at the provider again or have a password
   * @param turn `turn` of their account when the router asked the provider, `''` if it had none; undefined to accept any `turn`
   * @returns false, with nothing ended, if they have signed in at the provider since, or do not exist
   */
  async refuse(
    id: string,
    { endsKeys = true, turn: answerId }: { endsKeys?: boolean; turn?: string } = {},
  ): Promise<boolean> {
    const keys = [this.#names.user(id), this.#names.externalAccount(id)];
    return (await refuseUser.run(this.#redis, { keys, args: { now: Date.now(), endsKeys, turn: answerId } })) === 1;
  }

  /** Ends all sign-in sessions and programs of an existing person, but not their admin tokens. */
  async endSessions(id: string): Promise<void> {
    await callRedis(this.#redis.hincrby(this.#names.user(id), 'epoch', 1));
  }
}

/** The outcome of a change of an address. `invited`: there is an open invitation to the new address. */
export type EmailChangeOutcome = 'changed' | 'email taken' | 'invited' | 'unknown';

export type UserChangeRefusal = 'stale' | 'last admin' | 'unknown';

/** Converts a list of names and values, as which scripts return a hash. */
function toFields(list: readonly string[]): Record<string, string> {
  return Object.fromEntries(list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1] ?? '']] : [])));
}
