import type { Part } from '../cluster/part.ts';
import type { Violation } from './violation.ts';

/** Judges that no part ends by itself. One that cannot start yet, as what it needs is away, may end and be started again. */
export function judgeCrashes(parts: readonly Pick<Part, 'name' | 'crashes'>[]): Violation[] {
  return parts.flatMap(({ name, crashes }) =>
    crashes.filter(({ wasReady }) => wasReady).map(({ detail }): Violation => ({ rule: 'crashed', id: name, detail })),
  );
}
