/** An answer whose pieces wait for the end of this turn of the event loop. */
export interface BatchedOutput {
  sendBatch: () => void;
}

/**
 * Sends all pieces that arrive for an answer in one turn of the event loop together, at the end of the turn. A write to a socket costs more
 * than all other work for a small piece. Under load, turns last longer and more pieces of an answer arrive in each turn, so that the cost
 * of a piece falls. Pieces that are sent at once, such as the first texts of other answers, overtake the pieces that wait. See
 * docs/decisions/0006-outbox-priorities.md.
 */
export class OutputBatcher {
  #waiting: BatchedOutput[] = [];

  /** Schedules `output.sendBatch` for the end of the turn. */
  add(output: BatchedOutput): void {
    if (this.#waiting.push(output) === 1) setImmediate(() => this.#end());
  }

  #end(): void {
    const due = this.#waiting;
    this.#waiting = [];
    for (const output of due) output.sendBatch();
  }
}
