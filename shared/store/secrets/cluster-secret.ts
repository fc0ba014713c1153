import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountNames } from '../redis/account-names.ts';
import { callRedisAll } from '../redis/call-redis.ts';

/** Milliseconds between two checks of the secret in Redis. A check writes the secret if Redis has none, and reads it. */
const checkEveryMs = 2_000;

/** Maximum of secrets that a node uses: the secret that seals, and its predecessors. */
const maxSecrets = 4;

const noSecrets: readonly Buffer[] = [];

/**
 * The secret that all ingress nodes of a cluster share: a secret that an operator sets, or else a secret that is made once and stored in
 * Redis. The secret is unknown until Redis has answered. A known secret stays in use while Redis is unavailable, and is written back to a
 * store that was emptied. If another node was first to write another secret, this node seals with that secret from then on. Until the node
 * ends, the earlier secrets still open what they have sealed.
 */
export class ClusterSecret {
  readonly #redis: Redis;
  readonly #name: string;
  #secrets: readonly Buffer[];
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #checkInBackground = (): void => void this.#agreeOnSecret();

  /**
   * @param prefix start of all names in Redis
   * @param operatorSecrets the secrets that the operator sets, newest first; undefined to make a secret and store it in Redis
   */
  constructor(redis: Redis, prefix: string, operatorSecrets: readonly Buffer[] | undefined) {
    this.#redis = redis;
    this.#name = accountNames(prefix).clusterSecret;
    this.#secrets = operatorSecrets ?? noSecrets;
    if (operatorSecrets) return;
    redis.on('ready', this.#checkInBackground);
    this.#timer = setInterval(this.#checkInBackground, checkEveryMs).unref();
    this.#checkInBackground();
  }

  /** The secrets, 32 bytes each. The first secret seals, and every secret opens. Empty while Redis has not answered yet. */
  get secrets(): readonly Buffer[] {
    return this.#secrets;
  }

  close(): void {
    this.#redis.off('ready', this.#checkInBackground);
    clearInterval(this.#timer);
  }

  #adopt(secret: Buffer): void {
    const [newest] = this.#secrets;
    if (newest?.equals(secret)) return;
    const olderSecrets = this.#secrets.filter((known) => !known.equals(secret));
    this.#secrets = [secret, ...olderSecrets].slice(0, maxSecrets);
  }

  /** Reads the secret in Redis. If there is none, writes the known secret, or a new one. */
  async #agreeOnSecret(): Promise<void> {
    const proposedSecret = (this.#secrets[0] ?? randomBytes(32)).toString('base64url');
    try {
      const [, secret] = await callRedisAll(this.#redis.multi().setnx(this.#name, proposedSecret).get(this.#name));
      this.#adopt(Buffer.from(String(secret), 'base64url'));
    } catch {
      // The connection logs that Redis is unavailable. The known secrets stay in use.
    }
  }
}
