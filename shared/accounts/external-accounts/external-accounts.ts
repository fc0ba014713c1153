import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { mintId } from '../keys/mint-key.ts';
import type { PersonStart } from '../people/console-settings.ts';
import { tokenHash } from '../people/secret-token.ts';
import type { UserRecord, UserRole } from '../people/user.ts';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { askRedis, isWrongType, readHash, storeUnavailable } from '../redis/ask-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { readStored, UnreadableRecordError, type ReportUnreadable } from '../redis/stored-records.ts';
import { storedFields } from '../redis/stored-value.ts';
import type { OwnerKeys } from '../secrets/owner-keys.ts';
import { issuerForms } from './issuer-forms.ts';

const makeExternal = new RedisScript(new URL('lua/make-external.lua', import.meta.url));
const linkExternal = new RedisScript(new URL('lua/link-external.lua', import.meta.url));
const unlinkExternal = new RedisScript(new URL('lua/unlink-external.lua', import.meta.url));
const keepExternal = new RedisScript(new URL('lua/keep-external.lua', import.meta.url));
const endLock = new RedisScript(new URL('../redis/lua/end-lock.lua', import.meta.url));

/**
 * Milliseconds after which a node that asks a provider about a person counts as dead: longer than it takes to read what the provider says of
 * itself and to use a refresh token, ten seconds each, and to keep what it has answered although the store is away for a while, 20 and a few.
 */
export const checkMs = 45_000;

/** Who somebody is at a provider. */
export interface ExternalSubject {
  issuer: string;
  subject: string;
}

const accountSchema = z.object({
  /** Name of the provider. */
  provider: z.string(),
  issuer: z.string(),
  subject: z.string(),
  /** Until then the provider's last answer counts, ms since 1970. */
  goodUntil: z.coerce.number(),
  sealedRefreshToken: z.string().optional(),
  /** As which client of the provider the router got it. Absent in records of earlier releases. */
  clientId: z.string().optional(),
  /** See `ExternalAccount`. Absent in records of earlier releases. */
  isOffline: z.stringbool().optional().catch(undefined),
  /** Changes with each answer of the provider. Absent before the first one, and in records of earlier releases. */
  turn: z.string().optional(),
});

/** The account of a person at a provider. */
export interface ExternalAccount extends ExternalSubject {
  provider: string;
  goodUntil: number;
  refreshToken?: string | undefined;
  /** The router's id as the client that the refresh token was given to; undefined if that was not kept. */
  clientId?: string | undefined;
  /**
   * Whether the refresh token outlasts the session that the person has at the provider: it was asked for with `offline_access`. Undefined if
   * that was not kept: earlier releases did not use those of people of whom keys alone were used, so that many have ended.
   */
  isOffline?: boolean | undefined;
}

/** The account of a person at a provider, as it is kept. */
export interface KeptAccount extends ExternalAccount {
  /** Whether there is a refresh token that this node cannot open: it was sealed with a secret that the node does not know, or not yet. */
  isSealed: boolean;
  /** Another one once a further answer of the provider was kept. */
  turn?: string | undefined;
}

/** Who somebody is at which of the providers. */
export interface ProviderAccount extends ExternalSubject {
  /** Name of the provider. */
  provider: string;
}

/** What is known of somebody who comes for the first time. */
export interface NewExternalPerson extends ProviderAccount {
  name: string;
  email: string;
  role: UserRole;
}

export interface ExternalAccountsParts {
  keys: Pick<OwnerKeys, 'externalAccountSealer'>;
  report: ReportUnreadable;
}

/** The accounts of people at providers, in Redis; refresh tokens are sealed. Every method throws `store_unavailable` as KeyStore does. */
export class ExternalAccounts {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #parts: ExternalAccountsParts;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string, parts: ExternalAccountsParts) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
    this.#parts = parts;
  }

  /** The id of the person with this account at a provider, in whichever form its issuer is stored (see `issuerForms`). */
  async findPerson(subject: ExternalSubject): Promise<string | undefined> {
    return (await this.#owners(subject))[0]?.userId;
  }

  /** Makes the account of somebody who comes for the first time. */
  async make(person: NewExternalPerson, start: PersonStart): Promise<UserRecord | 'email taken' | 'taken'> {
    const { name, email, role } = person;
    // No password matches an empty hash.
    const address = { email, confirmedEmail: email, usedEmail: email };
    const account = { id: mintId(), name, ...address, role, passwordHash: '', epoch: 0, createdAt: Date.now() };
    const user: UserRecord = { ...account, ...start };
    const { externalAccounts, userEmails, user: record, users, admins, externalAccount } = this.#names;
    const args = {
      external: keyOf(person),
      userId: user.id,
      email,
      createdAt: user.createdAt,
      isAdmin: role === 'admin',
      fields: storedFields(user),
      account: justLinked(person),
    };
    const keys = [externalAccounts, userEmails, record(user.id), users, admins, externalAccount(user.id)];
    const outcome = await makeExternal.run(this.#redis, { keys, args });
    return outcome === 'made' ? user : (outcome as 'email taken' | 'taken');
  }

  /**
   * Links an account at a provider to the person who has an address, and ends what somebody may have who had the account before: sessions,
   * programs, admin tokens, the password, and second factors. False when one of both has another account, or the person another address.
   */
  async link({ id: userId, email }: Pick<UserRecord, 'id' | 'email'>, account: ProviderAccount): Promise<boolean> {
    const { externalAccounts, user, externalAccount, secondFactor } = this.#names;
    const keys = [externalAccounts, user(userId), externalAccount(userId), secondFactor(userId)];
    const args = { external: keyOf(account), userId, email, account: justLinked(account) };
    return (await linkExternal.run(this.#redis, { keys, args })) === 1;
  }

  /**
   * Takes the account at a provider from a person, and ends their sessions, programs and admin tokens. The next sign-in with their address at
   * any provider links them anew. @returns the name of the provider; undefined for somebody who has no such account
   */
  async unlink(userId: string): Promise<string | undefined> {
    const { externalAccounts, user, externalAccount } = this.#names;
    const keys = [externalAccounts, user(userId), externalAccount(userId)];
    const provider = await unlinkExternal.run(this.#redis, { keys, args: { userId } });
    return typeof provider === 'string' ? provider : undefined;
  }

  /** The names of the providers at which people have an account, by the id of each who has one. */
  async providersOf(userIds: readonly string[]): Promise<Map<string, string>> {
    const steps = this.#redis.pipeline();
    for (const id of userIds) steps.hget(this.#names.externalAccount(id), 'provider');
    const replies = (await askRedis(steps.exec())) ?? [];
    return new Map(
      replies.flatMap(([error, provider], at) => {
        // One that cannot be read is no account for the list, as in `readHash`.
        if (error && !isWrongType(error)) throw storeUnavailable(error);
        const id = userIds[at];
        return id !== undefined && typeof provider === 'string' ? [[id, provider]] : [];
      }),
    );
  }

  /**
   * The account of a person; undefined for somebody who has signed in at no provider.
   * @throws UnreadableRecordError for one that cannot be read
   */
  async find(userId: string): Promise<KeptAccount | undefined> {
    const fields = await readHash(this.#redis, this.#names.externalAccount(userId));
    if (fields && Object.keys(fields).length === 0) return undefined;
    const read = readStored(accountSchema, fields);
    if (!('value' in read)) {
      const record = `external account ${userId}`;
      this.#parts.report(record, read.reason);
      throw new UnreadableRecordError(record, read.reason);
    }
    const { sealedRefreshToken: sealed, ...account } = read.value;
    if (sealed === undefined) return { ...account, isSealed: false };
    const refreshToken = this.#parts.keys.externalAccountSealer(userId)?.unseal(sealed);
    return { ...account, refreshToken, isSealed: refreshToken === undefined };
  }

  /**
   * Keeps what a provider has said. One that counts from now on ends a refusal of before. The issuer keeps the form in which it is stored.
   * @param over what it is kept in place of; absent: of whatever there is
   * @param turn the same for who keeps the same again, because the store may have kept it and its reply was lost
   * @returns what is kept now; undefined where there is something else than `over`, or the account is not the person's any more: they were
   * deleted
   */
  async keep(
    userId: string,
    account: ExternalAccount,
    over?: KeptAccount,
    turn: string = randomUUID(),
  ): Promise<KeptAccount | undefined> {
    const { provider, subject, goodUntil, refreshToken, clientId, isOffline } = account;
    const { issuer = account.issuer } = (await this.#owners(account)).find((each) => each.userId === userId) ?? {};
    const sealedRefreshToken = refreshToken && this.#parts.keys.externalAccountSealer(userId)?.seal(refreshToken);
    const { externalAccounts, user, externalAccount } = this.#names;
    const keys = [externalAccounts, user(userId), externalAccount(userId)];
    const said = { provider, issuer, subject, goodUntil, clientId, isOffline, turn };
    const fields = storedFields({ ...said, sealedRefreshToken });
    const before = over && { over: over.turn ?? '' };
    const args = { external: keyOf({ issuer, subject }), userId, now: Date.now(), account: fields, ...before };
    const isKept = (await keepExternal.run(this.#redis, { keys, args })) === 1;
    return isKept ? { ...said, refreshToken, isSealed: false } : undefined;
  }

  /**
   * Begins to ask the provider about a person, as the only node in the cluster, for `checkMs` at most.
   * @returns what `endCheck` needs; undefined while another node is at it
   */
  async beginCheck(userId: string): Promise<string | undefined> {
    const mark = randomUUID();
    const lock = this.#names.externalCheck(userId);
    return (await askRedis(this.#redis.set(lock, mark, 'PX', checkMs, 'NX'))) === 'OK' ? mark : undefined;
  }

  /** Lets other nodes ask the provider, unless one of them does already because this one took too long. */
  async endCheck(userId: string, mark: string): Promise<void> {
    await endLock.run(this.#redis, { keys: [this.#names.externalCheck(userId)], args: { mark } });
  }

  /** Whether a node asks the provider about a person now. */
  async isChecked(userId: string): Promise<boolean> {
    return (await askRedis(this.#redis.exists(this.#names.externalCheck(userId)))) === 1;
  }

  /** Whether the caller is the first to take the state of a sign-in. @param ms milliseconds for which that is kept */
  async takeState(state: string, ms: number): Promise<boolean> {
    return (await askRedis(this.#redis.set(this.#names.externalState(tokenHash(state)), '1', 'PX', ms, 'NX'))) === 'OK';
  }

  /** Whose an account is, by each form of its issuer that is stored, the given one first. */
  async #owners({ issuer, subject }: ExternalSubject): Promise<{ issuer: string; userId: string }[]> {
    const forms = issuerForms(issuer);
    const names = forms.map((form) => keyOf({ issuer: form, subject }));
    const ids = await askRedis(this.#redis.hmget(this.#names.externalAccounts, ...names));
    return forms.flatMap((form, at) => (ids[at] ? [{ issuer: form, userId: ids[at] }] : []));
  }
}

/** What is kept of an account of which the provider has said nothing yet: `keep` follows. */
function justLinked({ provider, issuer, subject }: ProviderAccount): Record<string, string> {
  return storedFields({ provider, issuer, subject, goodUntil: Date.now() });
}

/** No issuer has a space: it is a URL. */
function keyOf({ issuer, subject }: ExternalSubject): string {
  return `${issuer} ${subject}`;
}
