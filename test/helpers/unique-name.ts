import { randomBytes } from 'node:crypto';

/** A name that nothing has yet. A test that failed is run again in CI, on the cluster that has what the first run made. */
export function uniqueName(name: string): string {
  return `${name}-${randomBytes(3).toString('hex')}`;
}
