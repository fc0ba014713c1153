/** Wakes a task that waits for a change. If `notify` is called while no task waits, the next wait ends at once. */
export class WakeSignal {
  readonly #endSignal: AbortSignal;
  #isNotified = false;
  #wake: (() => void) | undefined;

  /** @param endSignal ends the current wait, and all later ones at once */
  constructor(endSignal: AbortSignal) {
    this.#endSignal = endSignal;
  }

  notify(): void {
    if (this.#wake) this.#wake();
    else this.#isNotified = true;
  }

  /** Resolves on the next call of `notify`, or after `ms` milliseconds. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#endSignal.removeEventListener('abort', end);
        this.#wake = undefined;
        this.#isNotified = false;
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#endSignal.addEventListener('abort', end);
      this.#wake = end;
      if (this.#isNotified || this.#endSignal.aborted) end();
    });
  }
}
