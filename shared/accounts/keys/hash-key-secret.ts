import { argon2id, hash, needsRehash } from 'argon2';

/** The cost of a key's hash: 256 KiB, one pass and one lane, about 0.12 ms of one core. See docs/decisions/0019-cost-of-keys.md. */
const cost = { memoryCost: 256, timeCost: 1, parallelism: 1 };

/** Hashes the secret of a key for the store: Argon2id, as a PHC string, which contains its salt and its parameters. */
export function hashKeySecret(secret: string): Promise<string> {
  return hash(secret, { type: argon2id, ...cost });
}

/** Returns whether the cost of a hash differs from the cost of new hashes. */
export function hasOtherCost(phc: string): boolean {
  return needsRehash(phc, cost);
}
