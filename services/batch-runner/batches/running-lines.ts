/** How many lines of each batch workers have from this runner. */
export class RunningLines {
  readonly #counts = new Map<string, number>();

  /** A worker has a line. @returns the call for when it has it no more */
  begin(batch: string): () => void {
    this.#add(batch, 1);
    return () => this.#add(batch, -1);
  }

  /** Whether a worker has a line of a batch. */
  has(batch: string): boolean {
    return this.#counts.has(batch);
  }

  #add(batch: string, more: number): void {
    const count = (this.#counts.get(batch) ?? 0) + more;
    if (count > 0) this.#counts.set(batch, count);
    else this.#counts.delete(batch);
  }
}
