/** An answer of which pieces wait for the end of this turn of the event loop. */
export interface TurnOutput {
  /** Sends them. */
  sendTurn: () => void;
}

/**
 * Has answers send what comes for them in one turn of the event loop together, at its end. A write to a socket costs more than all
 * else that is done for a small piece. Under load turns take longer and more pieces of an answer come in each, so the cost of a
 * piece falls; what is sent at once meanwhile, such as the first texts of other answers, overtakes them.
 * See docs/decisions/0006-outbox-priorities.md.
 */
export class OutputTurn {
  #due: TurnOutput[] = [];

  /** Has the output called at the end of the turn. */
  add(output: TurnOutput): void {
    if (this.#due.push(output) === 1) setImmediate(() => this.#end());
  }

  #end(): void {
    const due = this.#due;
    this.#due = [];
    for (const output of due) output.sendTurn();
  }
}
