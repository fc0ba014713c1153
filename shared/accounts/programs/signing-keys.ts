import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { derive, sealerOf, type Sealer } from '#shared/core/seal.ts';
import { accountNames } from '../redis/account-names.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { readStored } from '../redis/stored-records.ts';
import { storedJson } from '../redis/stored-value.ts';

const readKeys = new RedisScript(new URL('lua/read-signing-keys.lua', import.meta.url));

/** Milliseconds after which a new key signs. */
const rotateMs = 30 * 24 * 3_600_000;

/** Milliseconds for which a key still verifies after the next one came. Longer than any access token lasts. */
const keepMs = 3_600_000;

/** Keys in the store. There are more than two only where nodes have different secrets. */
const mostKeys = 4;

/** Milliseconds between two looks for a key that is not known. */
const lookEveryMs = 1_000;

const storedKeySchema = storedJson(z.object({ createdAt: z.number(), sealed: z.string() }));

/** A key that signs and verifies access tokens, by Ed25519. */
export interface SigningKey {
  id: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

/**
 * The keys that sign access tokens: made at their first use, kept in Redis, sealed with the secret of the cluster, and replaced every 30
 * days. The one before goes on verifying for an hour. A key that this node knows verifies while Redis is away.
 */
export class SigningKeys {
  readonly #redis: Redis;
  readonly #name: string;
  readonly #secrets: () => readonly Uint8Array[];
  #known: ReadonlyMap<string, SigningKey> = new Map();
  #looking: Promise<void> | undefined;
  #lookedAt = -Infinity;
  readonly #look = (): void => void this.#lookOnce().catch(() => undefined);

  /**
   * @param prefix what all names in Redis begin with
   * @param secrets of the cluster, newest first; none while they are not known
   */
  constructor(redis: Redis, prefix: string, secrets: () => readonly Uint8Array[]) {
    this.#redis = redis;
    this.#name = accountNames(prefix).signingKeys;
    this.#secrets = secrets;
    redis.on('ready', this.#look);
  }

  close(): void {
    this.#redis.off('ready', this.#look);
  }

  /** The key that signs now; made if there is none. @throws RouterError `store_unavailable` */
  async current(): Promise<SigningKey> {
    const [newest] = await this.#read(false);
    if (newest) return newest;
    // None, or none that this node's secret opens.
    const [made] = await this.#read(true);
    if (!made) throw unavailable();
    return made;
  }

  /**
   * The key with this id; undefined when there is none. One that is not known is looked for in Redis, once a second for all who ask.
   * @throws RouterError `store_unavailable` when it is not known and Redis does not answer
   */
  async find(id: string): Promise<SigningKey | undefined> {
    const known = this.#known.get(id);
    if (known) return known;
    if (performance.now() - this.#lookedAt >= lookEveryMs) await this.#lookOnce();
    return this.#known.get(id);
  }

  async #lookOnce(): Promise<void> {
    this.#looking ??= this.#read(false)
      .then(() => {
        this.#lookedAt = performance.now();
      })
      .finally(() => {
        this.#looking = undefined;
      });
    await this.#looking;
  }

  /** Reads the keys that can be opened, newest first, and adds one if the newest is too old or `isNeeded`. */
  async #read(isNeeded: boolean): Promise<SigningKey[]> {
    const sealer = this.#sealer();
    const { id, text } = makeKey(sealer);
    const args = { now: Date.now(), rotateMs, keepMs, most: mostKeys, id, key: text, isNeeded };
    const stored = (await readKeys.run(this.#redis, { keys: [this.#name], args })) as string[];
    const keys: SigningKey[] = [];
    for (let at = 0; at < stored.length; at += 2) {
      const key = this.#open(stored[at] ?? '', stored[at + 1] ?? '', sealer);
      if (key) keys.push(key);
    }
    this.#known = new Map(keys.map((key) => [key.id, key]));
    return keys;
  }

  #open(id: string, text: string, sealer: Sealer): SigningKey | undefined {
    const known = this.#known.get(id);
    if (known) return known;
    const read = readStored(storedKeySchema, text);
    const pem = 'value' in read ? sealer.unseal(read.value.sealed) : undefined;
    if (pem === undefined) return undefined;
    const privateKey = createPrivateKey(pem);
    return { id, privateKey, publicKey: createPublicKey(privateKey) };
  }

  #sealer(): Sealer {
    const sealer = sealerOf(this.#secrets().map((secret) => derive(secret, 'signing keys')));
    if (!sealer) throw unavailable();
    return sealer;
  }
}

function makeKey(sealer: Sealer): { id: string; text: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const text = JSON.stringify({ createdAt: Date.now(), sealed: sealer.seal(pem) });
  return { id: randomBytes(12).toString('base64url'), text };
}

function unavailable(): RouterError {
  return new RouterError('store_unavailable', 'The keys of access tokens are not known yet. Please try again soon.', {
    retryAfter: 2,
  });
}
