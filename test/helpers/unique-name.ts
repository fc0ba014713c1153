import { randomBytes } from 'node:crypto';

/** Returns an unused name. A failed test is run again in CI, on the cluster with the objects of the first run. */
export function uniqueName(name: string): string {
  return `${name}-${randomBytes(3).toString('hex')}`;
}
