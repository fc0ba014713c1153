import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { deriveKey, createMultiKeySealer, type Sealer } from '#shared/core/seal.ts';
import { accountNames } from '#shared/store/redis/account-names.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { readStored } from '#shared/store/redis/stored-records.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';

const readKeys = new RedisScript(new URL('lua/read-signing-keys.lua', import.meta.url));

/** The age, in milliseconds, at which a new key replaces a key. */
const rotateMs = 30 * 24 * 3_600_000;

/** Milliseconds for which a replaced key still verifies tokens. No access token lasts that long. */
const keepMs = 3_600_000;

/** Maximum of keys in the store. There are more than two only if nodes have different secrets. */
const maxKeys = 4;

/** Minimum milliseconds between two reads of the keys because of unknown key ids. */
const rereadAfterMs = 1_000;

const storedKeySchema = createStoredSchema(z.object({ createdAt: z.number(), sealed: z.string() }));

/** A key that signs and verifies access tokens (Ed25519). */
export interface SigningKey {
  id: string;
  /** In ms since 1970. */
  createdAt: number;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

interface NewKey {
  id: string;
  /** The stored form of the key. */
  text: string;
  /** See `after` in `read-signing-keys.lua`. */
  after: string | undefined;
}

interface StoredKeys {
  /** The keys that this node's secrets open, newest first. */
  opened: SigningKey[];
  /** Id of the newest key, whether or not this node can open it; undefined if there is no key. */
  newest: string | undefined;
}

/**
 * The keys that sign access tokens, in Redis, sealed with the secret of the cluster. A key is made when a token is to be signed, and there
 * is no key or the newest key is 30 days old. The previous key then still verifies for an hour. A key that this node has read verifies even
 * while Redis is unavailable.
 */
export class SigningKeys {
  readonly #redis: Redis;
  readonly #name: string;
  readonly #secrets: () => readonly Uint8Array[];
  #known: ReadonlyMap<string, SigningKey> = new Map();
  #reading: Promise<void> | undefined;
  #readAt = -Infinity;
  readonly #readInBackground = (): void => void this.#readShared().catch(() => undefined);

  /**
   * @param prefix start of all names in Redis
   * @param secrets returns the secrets of the cluster, newest first; an empty list while they are not known
   */
  constructor(redis: Redis, prefix: string, secrets: () => readonly Uint8Array[]) {
    this.#redis = redis;
    this.#name = accountNames(prefix).signingKeys;
    this.#secrets = secrets;
    redis.on('ready', this.#readInBackground);
  }

  close(): void {
    this.#redis.off('ready', this.#readInBackground);
  }

  /**
   * Returns the current signing key. Makes a key if there is none, or if the newest key is too old.
   * @throws RouterError `store_unavailable`
   */
  async ensureCurrent(): Promise<SigningKey> {
    const { opened, newest: after } = await this.#read();
    const [newest] = opened;
    if (newest && Date.now() - newest.createdAt < rotateMs) return newest;
    // There is no key, or the newest key is too old, or this node's secrets cannot open it. Another node may add a new key first.
    const [key] = (await this.#read({ ...generateKey(this.#createSealer()), after })).opened;
    if (!key) throw unavailableError();
    return key;
  }

  /**
   * Returns the key with this id; undefined if there is none. For an unknown key, reads Redis, at most once a second for all callers.
   * @throws RouterError `store_unavailable` when the key is not known and Redis does not answer
   */
  async find(id: string): Promise<SigningKey | undefined> {
    const known = this.#known.get(id);
    if (known) return known;
    if (performance.now() - this.#readAt >= rereadAfterMs) await this.#readShared();
    return this.#known.get(id);
  }

  async #readShared(): Promise<void> {
    this.#reading ??= this.#read()
      .then(() => {
        this.#readAt = performance.now();
      })
      .finally(() => {
        this.#reading = undefined;
      });
    await this.#reading;
  }

  /**
   * Reads the keys from Redis.
   * @param added a key to add first, unless there is a newer key than its `after` by now
   */
  async #read(added?: NewKey): Promise<StoredKeys> {
    const sealer = this.#createSealer();
    const args = { now: Date.now(), keepMs, maxKeys, added };
    const stored = (await readKeys.run(this.#redis, { keys: [this.#name], args })) as string[];
    const opened: SigningKey[] = [];
    for (let index = 0; index < stored.length; index += 2) {
      const key = this.#open(stored[index] ?? '', stored[index + 1] ?? '', sealer);
      if (key) opened.push(key);
    }
    this.#known = new Map(opened.map((key) => [key.id, key]));
    return { opened, newest: stored[0] };
  }

  #open(id: string, text: string, sealer: Sealer): SigningKey | undefined {
    const known = this.#known.get(id);
    if (known) return known;
    const read = readStored(storedKeySchema, text);
    if (!('value' in read)) return undefined;
    const { createdAt, sealed } = read.value;
    const pem = sealer.unseal(sealed);
    if (pem === undefined) return undefined;
    const privateKey = createPrivateKey(pem);
    return { id, createdAt, privateKey, publicKey: createPublicKey(privateKey) };
  }

  #createSealer(): Sealer {
    const sealer = createMultiKeySealer(this.#secrets().map((secret) => deriveKey(secret, 'signing keys')));
    if (!sealer) throw unavailableError();
    return sealer;
  }
}

function generateKey(sealer: Sealer): Omit<NewKey, 'after'> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const text = JSON.stringify({ createdAt: Date.now(), sealed: sealer.seal(pem) });
  return { id: randomBytes(12).toString('base64url'), text };
}

function unavailableError(): RouterError {
  return new RouterError('store_unavailable', 'The keys of access tokens are not known yet. Please try again soon.', {
    retryAfter: 2,
  });
}
