import type { Part } from '../cluster/part.ts';
import type { Violation } from './violation.ts';

/**
 * Checks that no component ends by itself. A component that cannot start yet, because its servers are away, may end and be started again.
 */
export function judgeCrashes(parts: readonly Pick<Part, 'name' | 'crashes'>[]): Violation[] {
  return parts.flatMap(({ name, crashes }) =>
    crashes.filter(({ wasReady }) => wasReady).map(({ detail }): Violation => ({ rule: 'crashed', id: name, detail })),
  );
}
