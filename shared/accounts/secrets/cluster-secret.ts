import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountNames } from '../redis/account-names.ts';
import { askRedisAll } from '../redis/ask-redis.ts';

/** Milliseconds between two looks at the secret in Redis. */
const lookEveryMs = 2_000;

/** Milliseconds until the next look while no secret is known. */
const lookAgainMs = 500;

const none: readonly Buffer[] = [];

/**
 * The secret that all ingress nodes of a cluster share: what an operator sets, or else one that is made once and kept in Redis.
 * States: unknown (Redis has not answered yet) → known. A known secret stays in use while Redis is away, and goes back into a store
 * that was emptied, unless another node has put its own there.
 */
export class ClusterSecret {
  readonly #redis: Redis;
  readonly #name: string;
  #secrets: readonly Buffer[];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * @param prefix what all names in Redis begin with
   * @param set the secrets that the operator sets, newest first; undefined for one in Redis
   */
  constructor(redis: Redis, prefix: string, set: readonly Buffer[] | undefined) {
    this.#redis = redis;
    this.#name = accountNames(prefix).clusterSecret;
    this.#secrets = set ?? none;
    if (!set) void this.#look();
  }

  /** The secrets, 32 bytes each: the first one seals, all open. None while Redis has not answered yet. */
  get secrets(): readonly Buffer[] {
    return this.#secrets;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      this.#secrets = [await this.#agree()];
    } catch {
      // Redis is away: the connection logs that, and what is known stays.
    }
    if (this.#isClosed) return;
    const nextMs = this.#secrets === none ? lookAgainMs : lookEveryMs;
    this.#timer = setTimeout(() => void this.#look(), nextMs).unref();
  }

  /** Reads the secret in Redis, and writes the known or a new one if there is none. */
  async #agree(): Promise<Buffer> {
    const own = (this.#secrets[0] ?? randomBytes(32)).toString('base64url');
    const [, secret] = await askRedisAll(this.#redis.multi().setnx(this.#name, own).get(this.#name));
    return Buffer.from(String(secret), 'base64url');
  }
}
