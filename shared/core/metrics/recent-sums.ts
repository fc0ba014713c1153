/**
 * Sums per unit of time (second, minute) over a fixed number of past units, in a ring. An addition takes constant time, and a new unit
 * overwrites the oldest.
 */
export class RecentSums {
  readonly #sums: number[];
  readonly #units: number[];

  /** @param length number of units that are kept besides the current one */
  constructor(length: number) {
    this.#sums = Array.from({ length: length + 1 }, () => 0);
    this.#units = Array.from({ length: length + 1 }, () => -1);
  }

  /** Adds an amount to the sum of a unit. Units are numbered since 1970. Does nothing for a unit that is older than all kept units. */
  add(unit: number, amount: number): void {
    const place = unit % this.#sums.length;
    const storedUnit = this.#units[place] ?? -1;
    if (storedUnit > unit) return;
    if (storedUnit < unit) {
      this.#units[place] = unit;
      this.#sums[place] = 0;
    }
    this.#sums[place] = (this.#sums[place] ?? 0) + amount;
  }

  /** Returns the sums of the units before this one, oldest first. */
  sumsBefore(unit: number): number[] {
    const keptUnits = this.#sums.length - 1;
    return Array.from({ length: keptUnits }, (_, index) => this.#getSum(unit - keptUnits + index));
  }

  /** Returns the sum of this unit and of all kept units before it. */
  totalUpTo(unit: number): number {
    return this.sumsBefore(unit).reduce((sum, value) => sum + value, this.#getSum(unit));
  }

  #getSum(unit: number): number {
    const place = unit % this.#sums.length;
    return this.#units[place] === unit ? (this.#sums[place] ?? 0) : 0;
  }
}
