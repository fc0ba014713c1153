import { hash } from 'node:crypto';

/** Length above which an id is replaced by its hash, because a hundred thousand ids may be in memory at once. */
const maxKeptLength = 64;

/** The ids that the lines of a batch have (`custom_id`). Each must be the only one. */
export class CustomIds {
  readonly #ids = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }

  /** Adds the id of a line. Returns whether no earlier line has it. */
  add(id: string): boolean {
    const { size } = this.#ids;
    this.#ids.add(id.length <= maxKeptLength ? id : hash('sha256', id, 'base64'));
    return this.#ids.size > size;
  }
}
