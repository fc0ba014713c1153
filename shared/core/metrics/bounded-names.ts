/** The label value of all names beyond the maximum. */
export const otherName = 'other';

/**
 * Bounds the values of one label. The first names are kept, later ones become `other`. Names come from workers, which may announce hundreds
 * of them, or new ones every day; each would occupy memory for the life of the process.
 */
export class BoundedNames {
  readonly #names = new Set<string>();
  readonly #most: number;

  /** @param most maximum number of kept names */
  constructor(most: number) {
    this.#most = most;
  }

  labelFor(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#most) return otherName;
    this.#names.add(name);
    return name;
  }
}
