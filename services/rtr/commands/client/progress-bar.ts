/** Width of the bar in characters, without the text after it. */
const width = 24;

/** Number of steps into which the progress is divided. Outside a terminal, each step prints a line. */
const steps = 10;

/** The output of the bar: the standard error, so that the standard output contains only results. */
export type BarOutput = Pick<NodeJS.WriteStream, 'write'> & { isTTY?: boolean; columns?: number };

/** A progress bar. In a terminal, it redraws its line. Elsewhere, it prints a line for each tenth and for each stage. */
export class ProgressBar {
  readonly #output: BarOutput;
  #isOpen = false;
  #step = -1;
  #stage = '';

  constructor(output: BarOutput) {
    this.#output = output;
  }

  /**
   * Shows the progress.
   * @param share from 0 to 1; undefined while it is unknown
   * @param stage name of the current step; outside a terminal, a line is also printed when it changes
   */
  show(share: number | undefined, text: string, stage = ''): void {
    if (this.#output.isTTY !== true) {
      this.#showStep(share, text, stage);
      return;
    }
    const done = Math.round(Math.min(1, Math.max(0, share ?? 0)) * width);
    const line = `[${'#'.repeat(done)}${'-'.repeat(width - done)}] ${text}`;
    // The line is cut, because a line that wraps could not be redrawn. Some terminals report no width, or 0.
    this.#output.write(`\r\u001B[K${line.slice(0, (this.#output.columns || 80) - 1)}`);
    this.#isOpen = true;
  }

  end(): void {
    if (this.#isOpen) this.#output.write('\r\u001B[K');
    this.#isOpen = false;
    this.#step = -1;
    this.#stage = '';
  }

  #showStep(share: number | undefined, text: string, stage: string): void {
    const step = Math.floor((share ?? 0) * steps);
    if (step <= this.#step && stage === this.#stage) return;
    this.#step = step;
    this.#stage = stage;
    this.#output.write(`${text}\n`);
  }
}
