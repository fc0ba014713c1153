import { createHash } from 'node:crypto';

/** Stands for a user toward the other side: tells users apart without telling who they are. */
export function pseudonym(user: string): string {
  return createHash('sha256').update(user).digest('hex');
}
