/** What names that came too late are counted as. */
export const otherName = 'other';

/**
 * Keeps the values of one label within a bound: as many names as fit are themselves, later ones are `other`. Names come from
 * workers, and a worker may announce hundreds, or other ones every day; each would stay for as long as the process lives.
 */
export class BoundedNames {
  readonly #names = new Set<string>();
  readonly #most: number;

  /** @param most names that are told apart */
  constructor(most: number) {
    this.#most = most;
  }

  /** The name to count under. */
  of(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#most) return otherName;
    this.#names.add(name);
    return name;
  }
}
