/** Counts, for each batch, the lines that workers serve for this runner. */
export class RunningLines {
  readonly #counts = new Map<string, number>();

  /**
   * Counts a line that a worker serves.
   * @returns the function to call when the worker no longer serves the line
   */
  begin(batch: string): () => void {
    this.#changeCount(batch, 1);
    return () => this.#changeCount(batch, -1);
  }

  has(batch: string): boolean {
    return this.#counts.has(batch);
  }

  #changeCount(batch: string, change: number): void {
    const count = (this.#counts.get(batch) ?? 0) + change;
    if (count > 0) this.#counts.set(batch, count);
    else this.#counts.delete(batch);
  }
}
