import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountNames } from '../redis/account-names.ts';
import { askRedisAll } from '../redis/ask-redis.ts';

/** Milliseconds between two looks at the secret in Redis. */
const lookEveryMs = 2_000;

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
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #look = (): void => void this.#agree();

  /**
   * @param prefix what all names in Redis begin with
   * @param set the secrets that the operator sets, newest first; undefined for one in Redis
   */
  constructor(redis: Redis, prefix: string, set: readonly Buffer[] | undefined) {
    this.#redis = redis;
    this.#name = accountNames(prefix).clusterSecret;
    this.#secrets = set ?? none;
    if (set) return;
    redis.on('ready', this.#look);
    this.#timer = setInterval(this.#look, lookEveryMs).unref();
    this.#look();
  }

  /** The secrets, 32 bytes each: the first one seals, all open. None while Redis has not answered yet. */
  get secrets(): readonly Buffer[] {
    return this.#secrets;
  }

  close(): void {
    this.#redis.off('ready', this.#look);
    clearInterval(this.#timer);
  }

  /** Reads the secret in Redis, and writes the known or a new one if there is none. */
  async #agree(): Promise<void> {
    const own = (this.#secrets[0] ?? randomBytes(32)).toString('base64url');
    try {
      const [, secret] = await askRedisAll(this.#redis.multi().setnx(this.#name, own).get(this.#name));
      this.#secrets = [Buffer.from(String(secret), 'base64url')];
    } catch {
      // Redis is away: the connection logs that, and what is known stays.
    }
  }
}
