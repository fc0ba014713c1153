import { argon2id, hash, verify as matchesHash } from 'argon2';
import { RouterError } from '#shared/core/errors.ts';
import { FairQueue, QueueFullError } from '#shared/core/fair-queue.ts';
import { toSiteNetwork } from './address-groups.ts';
import { generateToken } from '../people/secret-token.ts';

/** The bounds of a password's length, in UTF-16 units. The upper bound limits the work for one password. */
export const passwordLength = { min: 10, max: 200 };

const queueLimits = { concurrency: 2, waitingPerOwner: 4, waiting: 64 };

/** Hashes and checks passwords, two at a time. Addresses are served in rotation; those of a site of IPv6 count as one. */
export class Passwords {
  readonly #queue = new FairQueue(queueLimits);
  #dummyHash: Promise<string> | undefined;

  /**
   * Returns the Argon2id hash of a password, as a PHC string.
   * @param address the client's address; the queue serves addresses in rotation
   * @throws RouterError `overloaded` when too many tasks wait
   */
  hash(address: string, password: string): Promise<string> {
    return this.#run(address, () => hashPassword(normalize(password)));
  }

  /**
   * Returns whether a password matches a hash. Takes the same time if there is no hash.
   * @param address the client's address; the queue serves addresses in rotation
   * @param phc the hash as a PHC string
   * @throws RouterError `overloaded` when too many tasks wait
   */
  async matches(address: string, phc: string | undefined, password: string): Promise<boolean> {
    this.#dummyHash ??= hashPassword(generateToken());
    const dummyHash = await this.#dummyHash;
    const matches = await this.#run(address, () => matchesHash(phc ?? dummyHash, normalize(password)));
    return matches && phc !== undefined;
  }

  async #run<T>(address: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#queue.run(toSiteNetwork(address), work);
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error;
      throw new RouterError('overloaded', 'Too many people are signing in. Please try again soon.', {
        retryAfter: 2,
        cause: error,
      });
    }
  }
}

/** Normalizes a password, because keyboards differ in how they compose letters with accents (NIST SP 800-63B-4, 3.1.1.2). */
function normalize(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Hashes a password for the store with Argon2id: 19 MiB, 2 passes, 1 lane. The result is a PHC string, which contains the salt and the
 * parameters. Hashing takes about 20 ms of one core. The parameters are from the OWASP Password Storage Cheat Sheet, "Argon2id". See
 * docs/decisions/0008-argon2id-cost.md.
 */
export function hashPassword(password: string): Promise<string> {
  return hash(password, { type: argon2id, memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 });
}
