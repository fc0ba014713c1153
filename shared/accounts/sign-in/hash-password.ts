import { argon2id, hash } from 'argon2';

/**
 * Hashes a password for the store with Argon2id: 19 MiB, 2 passes, 1 lane. The result is a PHC string, which contains the salt and the
 * parameters. Hashing takes about 20 ms of one core. The parameters are from the OWASP Password Storage Cheat Sheet, "Argon2id". See
 * docs/decisions/0008-argon2id-cost.md.
 */
export function hashPassword(password: string): Promise<string> {
  return hash(password, { type: argon2id, memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 });
}
