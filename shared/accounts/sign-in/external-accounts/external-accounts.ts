import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { generateId } from '../../keys/generate-key.ts';
import type { NewPersonSettings } from '../../people/console-settings.ts';
import { hashToken } from '../../people/secret-token.ts';
import type { UserRecord, UserRole } from '../../people/user.ts';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, isWrongType, readHash, createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { readStored, UnreadableRecordError, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { toStoredFields } from '#shared/store/redis/stored-value.ts';
import type { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';

const makeExternal = new RedisScript(new URL('lua/make-external.lua', import.meta.url));
const linkExternal = new RedisScript(new URL('lua/link-external.lua', import.meta.url));
const unlinkExternal = new RedisScript(new URL('lua/unlink-external.lua', import.meta.url));
const keepExternal = new RedisScript(new URL('lua/keep-external.lua', import.meta.url));
const endLock = new RedisScript(new URL('../../../store/redis/lua/end-lock.lua', import.meta.url));

/**
 * Milliseconds after which a node that checks a person with a provider counts as dead. A check takes less time: ten seconds to read the
 * provider's metadata, ten seconds to use a refresh token, and little more than 20 seconds to store the answer if the store is unavailable
 * for a while.
 */
export const checkMs = 45_000;

export interface ExternalSubject {
  issuer: string;
  subject: string;
}

const accountSchema = z.object({
  provider: z.string(),
  issuer: z.string(),
  subject: z.string(),
  /** The time until which the provider's last answer counts, in ms since 1970. */
  goodUntil: z.coerce.number(),
  sealedRefreshToken: z.string().optional(),
  /** The router's client id that the refresh token was issued to. Absent before the first answer. */
  clientId: z.string().optional(),
  /** See `ExternalAccount`. Absent before the first answer. */
  isOffline: z.stringbool().optional().catch(undefined),
  /** Changes with each answer of the provider. Absent before the first answer. */
  turn: z.string().optional(),
});

export interface ExternalAccount extends ExternalSubject {
  provider: string;
  goodUntil: number;
  refreshToken?: string | undefined;
  /** The router's client id that the refresh token was issued to; undefined before the provider's first answer. */
  clientId?: string | undefined;
  /**
   * Whether the refresh token outlasts the person's session at the provider, because it was requested with `offline_access`. Undefined
   * before the provider's first answer.
   */
  isOffline?: boolean | undefined;
}

export interface StoredAccount extends ExternalAccount {
  /**
   * Whether the account has a refresh token that this node cannot unseal, because the node lacks the secret. The node may get the secret
   * later.
   */
  isSealed: boolean;
  /** Changes when a further answer of the provider is stored. */
  turn?: string | undefined;
}

export interface ProviderAccount extends ExternalSubject {
  provider: string;
}

export interface NewExternalPerson extends ProviderAccount {
  name: string;
  email: string;
  role: UserRole;
}

export interface ExternalAccountsDependencies {
  keys: Pick<OwnerKeys, 'externalAccountSealer'>;
  report: ReportUnreadable;
}

/**
 * The accounts of people at providers, in Redis; refresh tokens are sealed. Every method throws `store_unavailable` while Redis is
 * unavailable.
 */
export class ExternalAccounts {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #dependencies: ExternalAccountsDependencies;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, dependencies: ExternalAccountsDependencies) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
    this.#dependencies = dependencies;
  }

  /** Returns the id of the person with this account at a provider, whichever form of its issuer is stored (see `listIssuerForms`). */
  async findPerson(subject: ExternalSubject): Promise<string | undefined> {
    return (await this.#findOwners(subject))[0]?.userId;
  }

  /**
   * Creates the account of a person who signs in for the first time. Returns `email taken` if another person has the address, `taken` if
   * the account at the provider belongs to a person already.
   */
  async create(person: NewExternalPerson, start: NewPersonSettings): Promise<UserRecord | 'email taken' | 'taken'> {
    const { name, email, role } = person;
    // No password matches an empty hash.
    const address = { email, confirmedEmail: email, usedEmail: email };
    const account = { id: generateId(), name, ...address, role, passwordHash: '', epoch: 0, createdAt: Date.now() };
    const user: UserRecord = { ...account, ...start };
    const { externalAccounts, userEmails, user: record, users, admins, externalAccount } = this.#names;
    const args = {
      external: toField(person),
      userId: user.id,
      email,
      createdAt: user.createdAt,
      isAdmin: role === 'admin',
      fields: toStoredFields(user),
      account: toFirstFields(person),
    };
    const keys = [externalAccounts, userEmails, record(user.id), users, admins, externalAccount(user.id)];
    const outcome = await makeExternal.run(this.#redis, { keys, args });
    return outcome === 'made' ? user : (outcome as 'email taken' | 'taken');
  }

  /**
   * Links an account at a provider to the person with an address. Revokes everything that an earlier holder of that person's account may
   * have: sign-in sessions, programs, admin tokens, the password, and second factors.
   * @returns false if the account belongs to a person already, the person already has an account at a provider, or the person has another
   * address
   */
  async link({ id: userId, email }: Pick<UserRecord, 'id' | 'email'>, account: ProviderAccount): Promise<boolean> {
    const { externalAccounts, user, externalAccount, secondFactor } = this.#names;
    const keys = [externalAccounts, user(userId), externalAccount(userId), secondFactor(userId)];
    const args = { external: toField(account), userId, email, account: toFirstFields(account) };
    return (await linkExternal.run(this.#redis, { keys, args })) === 1;
  }

  /**
   * Unlinks a person from the account at a provider, and ends their sign-in sessions, programs and admin tokens. The next sign-in with
   * their address at any provider links them anew.
   * @returns the name of the provider; undefined for a person without such an account
   */
  async unlink(userId: string): Promise<string | undefined> {
    const { externalAccounts, user, externalAccount } = this.#names;
    const keys = [externalAccounts, user(userId), externalAccount(userId)];
    const provider = await unlinkExternal.run(this.#redis, { keys, args: { userId } });
    return typeof provider === 'string' ? provider : undefined;
  }

  /** Returns the name of each person's provider, by the id of the person. Leaves out people without an account at a provider. */
  async readProviders(userIds: readonly string[]): Promise<Map<string, string>> {
    const steps = this.#redis.pipeline();
    for (const id of userIds) steps.hget(this.#names.externalAccount(id), 'provider');
    const replies = (await callRedis(steps.exec())) ?? [];
    return new Map(
      replies.flatMap(([error, provider], index) => {
        // As in `readHash`, an unreadable account does not fail the whole list. Its person counts as having no account.
        if (error && !isWrongType(error)) throw createStoreUnavailableError(error);
        const id = userIds[index];
        return id !== undefined && typeof provider === 'string' ? [[id, provider]] : [];
      }),
    );
  }

  /**
   * Returns the account of a person; undefined for a person who has signed in at no provider.
   * @throws UnreadableRecordError if the record cannot be read
   */
  async find(userId: string): Promise<StoredAccount | undefined> {
    const fields = await readHash(this.#redis, this.#names.externalAccount(userId));
    if (fields && Object.keys(fields).length === 0) return undefined;
    const read = readStored(accountSchema, fields);
    if (!('value' in read)) {
      const record = `external account ${userId}`;
      this.#dependencies.report(record, read.reason);
      throw new UnreadableRecordError(record, read.reason);
    }
    const { sealedRefreshToken: sealed, ...account } = read.value;
    if (sealed === undefined) return { ...account, isSealed: false };
    const refreshToken = this.#dependencies.keys.externalAccountSealer(userId)?.unseal(sealed);
    return { ...account, refreshToken, isSealed: refreshToken === undefined };
  }

  /**
   * Stores the answer of a provider. If the answer is valid for some time, an earlier refusal ends. The issuer keeps its stored form.
   * @param replaced the stored account that the answer replaces; if undefined, the answer replaces any account
   * @param turn a random id of the answer. A call that is repeated because the store's reply was lost passes the same id
   * @returns the stored account; undefined if an account other than `replaced` is stored, or the person no longer has this account because
   * they were deleted
   */
  async store(
    userId: string,
    account: ExternalAccount,
    replaced?: StoredAccount,
    turn: string = randomUUID(),
  ): Promise<StoredAccount | undefined> {
    const { provider, subject, goodUntil, refreshToken, clientId, isOffline } = account;
    const { issuer = account.issuer } =
      (await this.#findOwners(account)).find((owner) => owner.userId === userId) ?? {};
    const sealedRefreshToken =
      refreshToken && this.#dependencies.keys.externalAccountSealer(userId)?.seal(refreshToken);
    const { externalAccounts, user, externalAccount } = this.#names;
    const keys = [externalAccounts, user(userId), externalAccount(userId)];
    const record = { provider, issuer, subject, goodUntil, clientId, isOffline, turn };
    const fields = toStoredFields({ ...record, sealedRefreshToken });
    const condition = replaced && { over: replaced.turn ?? '' };
    const args = { external: toField({ issuer, subject }), userId, now: Date.now(), account: fields, ...condition };
    const isKept = (await keepExternal.run(this.#redis, { keys, args })) === 1;
    return isKept ? { ...record, refreshToken, isSealed: false } : undefined;
  }

  /**
   * Begins to check a person with the provider, as the only node in the cluster, for `checkMs` at most.
   * @returns what `endCheck` needs; undefined while another node checks
   */
  async beginCheck(userId: string): Promise<string | undefined> {
    const mark = randomUUID();
    const lock = this.#names.externalCheck(userId);
    return (await callRedis(this.#redis.set(lock, mark, 'PX', checkMs, 'NX'))) === 'OK' ? mark : undefined;
  }

  /** Lets other nodes check the person. Does nothing if another node already checks the person because this node took too long. */
  async endCheck(userId: string, mark: string): Promise<void> {
    await endLock.run(this.#redis, { keys: [this.#names.externalCheck(userId)], args: { mark } });
  }

  async isBeingChecked(userId: string): Promise<boolean> {
    return (await callRedis(this.#redis.exists(this.#names.externalCheck(userId)))) === 1;
  }

  /**
   * Marks the state of a sign-in as used. Returns whether the caller is the first to use it.
   * @param ms milliseconds for which the mark is stored
   */
  async markStateUsed(state: string, ms: number): Promise<boolean> {
    return (
      (await callRedis(this.#redis.set(this.#names.externalState(hashToken(state)), '1', 'PX', ms, 'NX'))) === 'OK'
    );
  }

  /** Returns the people to whom an account belongs, for each stored form of its issuer. The form in the argument comes first. */
  async #findOwners({ issuer, subject }: ExternalSubject): Promise<{ issuer: string; userId: string }[]> {
    const forms = listIssuerForms(issuer);
    const names = forms.map((form) => toField({ issuer: form, subject }));
    const ids = await callRedis(this.#redis.hmget(this.#names.externalAccounts, ...names));
    return forms.flatMap((form, index) => (ids[index] ? [{ issuer: form, userId: ids[index] }] : []));
  }
}

/** Returns the fields of an account that are stored before the provider's first answer. A call of `store` then adds the answer. */
function toFirstFields({ provider, issuer, subject }: ProviderAccount): Record<string, string> {
  return toStoredFields({ provider, issuer, subject, goodUntil: Date.now() });
}

/** Returns the field of an account in the hash of all accounts. An issuer contains no space, as it is a URL. */
function toField({ issuer, subject }: ExternalSubject): string {
  return `${issuer} ${subject}`;
}

/**
 * Returns the forms in which an issuer may be written. The first form is `issuer` itself. An issuer without a path has a second form, which
 * differs in the slash at the end. `https://id.example` and `https://id.example/` are the same URL, and both are in use.
 */
export function listIssuerForms(issuer: string): [string, ...string[]] {
  const [, origin] = /^(https?:\/\/[^/?#]+)\/?$/.exec(issuer) ?? [];
  if (origin === undefined) return [issuer];
  return [issuer, issuer === origin ? `${origin}/` : origin];
}

export function isSameIssuer(first: string, second: string): boolean {
  return listIssuerForms(first).includes(second);
}
