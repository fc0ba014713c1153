/** Seconds for which a limit is taken to hold when the CLI does not say, and at most before it is tried again. */
const usualLimitS = 10;
const longestLimitS = 300;

/**
 * Whether the worker takes jobs: while its CLI can be started and its account has met no limit. Other workers get the jobs
 * meanwhile.
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

  /** Tells whether the CLI can be started. */
  healthy(healthy: boolean): void {
    this.#healthy = healthy;
    this.#onChange(this.accepting);
  }

  /** Tells that the upstream limits the rate of requests, and for how many seconds, where it says so. */
  limited(seconds: number = usualLimitS): void {
    clearTimeout(this.#limit);
    const over = (): void => {
      this.#limit = undefined;
      this.#onChange(this.accepting);
    };
    this.#limit = setTimeout(over, Math.min(seconds, longestLimitS) * 1000);
    this.#onChange(this.accepting);
  }

  /** Stops the clock. */
  close(): void {
    clearTimeout(this.#limit);
  }
}
