/** The label value of all names beyond the maximum. */
export const otherName = 'other';

/**
 * Limits the number of values of one label. The first names are kept; later names become `other`. Names come from workers, which may
 * announce hundreds of names, or new names every day. Each name would occupy memory for the life of the process.
 */
export class BoundedNames {
  readonly #names = new Set<string>();
  readonly #max: number;

  /** @param max maximum number of kept names */
  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the value of the label for a name: the name, or `other`. */
  toLabel(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#max) return otherName;
    this.#names.add(name);
    return name;
  }
}
