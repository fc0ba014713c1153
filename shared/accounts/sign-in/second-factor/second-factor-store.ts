import type { Redis } from 'ioredis';
import { z } from 'zod';
import { isToken, generateToken, hashToken } from '../../people/secret-token.ts';
import type { UserRecord } from '../../people/user.ts';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll, readHash } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import type { SessionOpener } from '../session-store.ts';
import { createSecretUnknownError, type OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { generateRecoveryCode, readRecoveryCode, computeRecoveryField, formatRecoveryCode } from './recovery-codes.ts';

const notePasskeyUse = new RedisScript(new URL('lua/note-passkey-use.lua', import.meta.url));
const removeFactor = new RedisScript(new URL('lua/remove-factor.lua', import.meta.url));
const setRecoveryCodes = new RedisScript(new URL('lua/set-recovery-codes.lua', import.meta.url));
const takeStep = new RedisScript(new URL('lua/take-step.lua', import.meta.url));
const tryPending = new RedisScript(new URL('lua/try-pending.lua', import.meta.url));

/** Milliseconds that a person has for the second step of a sign-in, or for setting up a factor. */
const waitMs = 300_000;

/** Maximum of tries in one sign-in. After that, the person must enter the password again. */
const maxTries = 5;

const codeCount = 10;

export const maxPasskeys = 20;

const passkeySchema = createStoredSchema(
  z.object({
    name: z.string(),
    /** A COSE key, as base64url. */
    publicKey: z.string(),
    counter: z.number(),
    transports: z.array(z.string()).default([]),
    createdAt: z.number(),
  }),
);

/** A passkey of a person. Times in ms since 1970. */
export interface Passkey {
  id: string;
  name: string;
  publicKey: string;
  counter: number;
  transports: string[];
  createdAt: number;
}

export interface SecondFactor {
  /** The secret of an authenticator app, as base32. */
  totp: string | undefined;
  passkeys: Passkey[];
  recoveryCodesLeft: number;
}

/** A sign-in that has passed the check of the password and waits for its second step. */
export interface PendingSignIn {
  userId: string;
  epoch: number;
  /** How the person signed in. The session gets this after the second step. */
  opener: SessionOpener;
  challenge: string | undefined;
}

/**
 * The second factors of local accounts, in Redis. Secrets of authenticator apps are sealed. Recovery codes are stored as HMACs. The keys
 * for both are derived from the secret of the cluster. Every method throws `store_unavailable` while Redis is unavailable.
 */
export class SecondFactorStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #keys: Pick<OwnerKeys, 'secondFactorSealer'>;
  readonly #secrets: () => readonly Uint8Array[];

  /**
   * @param prefix start of all names in Redis
   * @param secrets returns the secrets of the cluster, newest first
   */
  constructor(
    redis: Redis,
    prefix: string,
    { keys, secrets }: { keys: Pick<OwnerKeys, 'secondFactorSealer'>; secrets: () => readonly Uint8Array[] },
  ) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
    this.#keys = keys;
    this.#secrets = secrets;
  }

  async find(userId: string): Promise<SecondFactor> {
    const fields = (await readHash(this.#redis, this.#names.secondFactor(userId))) ?? {};
    const sealed = fields['totp'];
    const entries = Object.entries(fields);
    const passkeys = entries.flatMap(([name, text]): Passkey[] => {
      const passkey = name.startsWith('passkey:') ? passkeySchema.safeParse(text).data : undefined;
      return passkey ? [{ ...passkey, id: name.slice('passkey:'.length) }] : [];
    });
    return {
      totp: sealed === undefined ? undefined : this.#keys.secondFactorSealer(userId).unseal(sealed),
      passkeys,
      recoveryCodesLeft: entries.filter(([name]) => name.startsWith('recovery:')).length,
    };
  }

  /** Returns whether a person has a second factor. A factor counts even if it can no longer be unsealed. */
  async has(userId: string): Promise<boolean> {
    const names = await callRedis(this.#redis.hkeys(this.#names.secondFactor(userId)));
    return names.some((name) => name === 'totp' || name.startsWith('passkey:'));
  }

  /** Stores the secret of an authenticator app that is being set up. */
  async beginTotp(userId: string, secret: string): Promise<void> {
    const sealed = this.#keys.secondFactorSealer(userId).seal(secret);
    await callRedis(this.#redis.set(this.#names.secondFactorSetUp(userId, 'totp'), sealed, 'PX', waitMs));
  }

  /** Returns the secret of an authenticator app that is being set up; undefined if that took too long. */
  async findNewTotp(userId: string): Promise<string | undefined> {
    const sealed = await callRedis(this.#redis.get(this.#names.secondFactorSetUp(userId, 'totp')));
    return sealed === null ? undefined : this.#keys.secondFactorSealer(userId).unseal(sealed);
  }

  async storeTotp(userId: string, secret: string): Promise<void> {
    const name = this.#names.secondFactor(userId);
    const steps = this.#redis
      .multi()
      .hset(name, 'totp', this.#keys.secondFactorSealer(userId).seal(secret))
      .hdel(name, 'usedStep');
    await callRedisAll(steps.del(this.#names.secondFactorSetUp(userId, 'totp')));
  }

  /**
   * Uses up the authenticator code of a step.
   * @param step the time of the code, in steps of 30 seconds since 1970
   * @returns false if a code of this step or a later step was used before, or there is no authenticator app any more
   */
  async useCode(userId: string, step: number): Promise<boolean> {
    return (await takeStep.run(this.#redis, { keys: [this.#names.secondFactor(userId)], args: { step } })) === 1;
  }

  async beginPasskey(userId: string, challenge: string): Promise<void> {
    await callRedis(this.#redis.set(this.#names.secondFactorSetUp(userId, 'passkey'), challenge, 'PX', waitMs));
  }

  /** Removes the challenge for a new passkey, and returns it. */
  async takePasskeyChallenge(userId: string): Promise<string | undefined> {
    return (await callRedis(this.#redis.getdel(this.#names.secondFactorSetUp(userId, 'passkey')))) ?? undefined;
  }

  async storePasskey(userId: string, passkey: Passkey): Promise<void> {
    await callRedis(this.#redis.hset(this.#names.secondFactor(userId), ...toPasskeyField(passkey)));
  }

  /** Stores the counter of a verified passkey. Returns false if the passkey was removed meanwhile, which makes the verification void. */
  async notePasskeyUse(userId: string, verifiedPasskey: Passkey): Promise<boolean> {
    const [field, passkey] = toPasskeyField(verifiedPasskey);
    const keys = [this.#names.secondFactor(userId)];
    return (await notePasskeyUse.run(this.#redis, { keys, args: { field, passkey } })) === 1;
  }

  /**
   * Removes the authenticator app, or a passkey. Removing the last factor also removes the recovery codes.
   * @returns false if there is no such factor
   */
  async remove(userId: string, factor: 'totp' | `passkey:${string}`): Promise<boolean> {
    return (await removeFactor.run(this.#redis, { keys: [this.#names.secondFactor(userId)], args: { factor } })) === 1;
  }

  /** Removes all second factors of a person, and the recovery codes. */
  async reset(userId: string): Promise<void> {
    await callRedis(this.#redis.del(this.#names.secondFactor(userId)));
  }

  /**
   * Makes new recovery codes in place of all earlier codes, and returns them. Redis gets only HMACs of the codes.
   * @returns undefined for a person without a second factor
   */
  async makeRecoveryCodes(userId: string): Promise<string[] | undefined> {
    const codes = Array.from({ length: codeCount }, generateRecoveryCode);
    const [secret] = this.#requireSecrets();
    const args = { fields: codes.map((code) => computeRecoveryField(secret, userId, code)) };
    const keys = [this.#names.secondFactor(userId)];
    if ((await setRecoveryCodes.run(this.#redis, { keys, args })) !== 1) return undefined;
    return codes.map(formatRecoveryCode);
  }

  /** Uses up a recovery code that a person has entered. Returns false if there is no such code. */
  async takeRecoveryCode(userId: string, entered: string): Promise<boolean> {
    const code = readRecoveryCode(entered);
    if (code === undefined) return false;
    const fields = this.#requireSecrets().map((secret) => computeRecoveryField(secret, userId, code));
    return (await callRedis(this.#redis.hdel(this.#names.secondFactor(userId), ...fields))) > 0;
  }

  /** Begins the second step of a sign-in, and returns the token that the browser keeps. */
  async beginSignIn({ id, epoch }: UserRecord, { link }: Pick<SessionOpener, 'link'>): Promise<string> {
    const token = generateToken();
    const name = this.#names.pendingSignIn(hashToken(token));
    const fields = { userId: id, epoch, tries: 0, ...(link && { link }) };
    await callRedisAll(this.#redis.multi().hset(name, fields).pexpire(name, waitMs));
    return token;
  }

  /** Stores the challenge for the passkey of a sign-in. Returns false if the sign-in is over. */
  async storeChallenge(token: string, challenge: string): Promise<boolean> {
    if (!isToken(token)) return false;
    const name = this.#names.pendingSignIn(hashToken(token));
    if ((await callRedis(this.#redis.exists(name))) === 0) return false;
    // If the sign-in has ended in between, this call creates the hash anew, so the hash must expire.
    await callRedisAll(this.#redis.multi().hset(name, 'challenge', challenge).pexpire(name, waitMs, 'NX'));
    return true;
  }

  /** Returns the id of the person who signs in; undefined if the sign-in is over. */
  async findSignIn(token: string): Promise<string | undefined> {
    if (!isToken(token)) return undefined;
    return (await callRedis(this.#redis.hget(this.#names.pendingSignIn(hashToken(token)), 'userId'))) ?? undefined;
  }

  /** Uses up one try of a sign-in, and returns the sign-in; undefined if the sign-in is over. */
  async trySignIn(token: string): Promise<PendingSignIn | undefined> {
    if (!isToken(token)) return undefined;
    const keys = [this.#names.pendingSignIn(hashToken(token))];
    const outcome = (await tryPending.run(this.#redis, { keys, args: { maxTries } })) as string[];
    const [userId, epoch, challenge, link] = outcome;
    if (userId === undefined) return undefined;
    const opener: SessionOpener = link === 'printed' ? { link } : {};
    return { userId, epoch: Number(epoch), opener, challenge: challenge === '' ? undefined : challenge };
  }

  async endSignIn(token: string): Promise<void> {
    await callRedis(this.#redis.del(this.#names.pendingSignIn(hashToken(token))));
  }

  #requireSecrets(): readonly [Uint8Array, ...Uint8Array[]] {
    const [newest, ...older] = this.#secrets();
    if (!newest) throw createSecretUnknownError();
    return [newest, ...older];
  }
}

function toPasskeyField({ id, ...passkey }: Passkey): [name: string, value: string] {
  return [`passkey:${id}`, JSON.stringify(passkey)];
}
