import { createHash } from 'node:crypto';

/** Returns a hash that identifies a user to the upstream without a name. */
export function computePseudonym(user: string): string {
  return createHash('sha256').update(user).digest('hex');
}
