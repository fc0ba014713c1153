/** Seconds that a limit lasts when the CLI does not report a time. */
const usualLimitS = 10;

/** Seconds after which the worker tries again at the latest. */
const longestLimitS = 300;

/**
 * Whether the worker accepts jobs: while its CLI can be started and its account has reached no limit.
 */
export class Acceptance {
  readonly #onChange: (accepting: boolean) => void;
  #healthy = true;
  #limit: NodeJS.Timeout | undefined;

  constructor(onChange: (accepting: boolean) => void) {
    this.#onChange = onChange;
  }

  get accepting(): boolean {
    return this.#healthy && this.#limit === undefined;
  }

  /** Sets whether the CLI can be started. */
  healthy(healthy: boolean): void {
    this.#healthy = healthy;
    this.#onChange(this.accepting);
  }

  /** Reports a rate limit of the upstream. @param seconds its time, where known */
  limited(seconds: number = usualLimitS): void {
    clearTimeout(this.#limit);
    const over = (): void => {
      this.#limit = undefined;
      this.#onChange(this.accepting);
    };
    this.#limit = setTimeout(over, Math.min(seconds, longestLimitS) * 1000);
    this.#onChange(this.accepting);
  }

  /** Stops the timer. */
  close(): void {
    clearTimeout(this.#limit);
  }
}
