import { verify as matchesHash } from 'argon2';
import { RouterError } from '#shared/core/errors.ts';
import { FairQueue, QueueFullError } from '../keys/fair-queue.ts';
import { generateToken } from '../people/secret-token.ts';
import { hashPassword } from './hash-password.ts';

/** The bounds of a password's length, in UTF-16 units. The upper bound keeps the work for a single password small. */
export const passwordLength = { min: 10, max: 200 };

const limits = { concurrency: 2, waitingPerOwner: 4, waiting: 64 };

/** Hashes and checks passwords, a few at a time, and serves clients in rotation. */
export class Passwords {
  readonly #queue = new FairQueue(limits);
  #nobodysHash: Promise<string> | undefined;

  /**
   * Returns the Argon2id hash of a password, as a PHC string.
   * @param owner the client's address; the queue serves addresses in rotation
   * @throws RouterError `overloaded` when too many tasks wait
   */
  hash(owner: string, password: string): Promise<string> {
    return this.#run(owner, () => hashPassword(normalize(password)));
  }

  /**
   * Returns whether a password belongs to a hash. Takes the same time if there is no hash to compare with.
   * @throws RouterError `overloaded` when too many tasks wait
   */
  async matches(owner: string, phc: string | undefined, password: string): Promise<boolean> {
    this.#nobodysHash ??= hashPassword(generateToken());
    const nobodysHash = await this.#nobodysHash;
    const matches = await this.#run(owner, () => matchesHash(phc ?? nobodysHash, normalize(password)));
    return matches && phc !== undefined;
  }

  async #run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#queue.run(owner, work);
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error;
      throw new RouterError('overloaded', 'Too many people are signing in. Please try again soon.', {
        retryAfter: 2,
        cause: error,
      });
    }
  }
}

/** Returns one form of a password, because keyboards differ in how they compose letters with accents (NIST SP 800-63B-4, 3.1.1.2). */
function normalize(password: string): string {
  return password.normalize('NFKC');
}
