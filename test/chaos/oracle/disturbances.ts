import type { FaultName } from '../faults/fault-kinds.ts';
import type { Struck } from '../faults/inject.ts';

export class Disturbances {
  readonly #struck: readonly Struck[];

  constructor(struck: readonly Struck[]) {
    this.#struck = struck;
  }

  /** Returns the faults between two times, including those that ended at most `afterMs` before the first. */
  during(from: number, to: number, afterMs = 0): Struck[] {
    return this.#struck.filter((one) => one.from <= to && one.to + afterMs >= from);
  }

  /** Whether one of these faults struck between two times, or ended at most `afterMs` before. */
  any(names: readonly FaultName[], from: number, to: number, afterMs = 0): boolean {
    return this.during(from, to, afterMs).some(({ fault }) => names.includes(fault.name));
  }
}
