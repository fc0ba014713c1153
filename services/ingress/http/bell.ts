/** Wakes who waits for a change. One that came before the wait ends it at once. */
export class Bell {
  readonly #ends: AbortSignal;
  #isRung = false;
  #wake: (() => void) | undefined;

  /** @param ends aborts when nobody waits any more */
  constructor(ends: AbortSignal) {
    this.#ends = ends;
  }

  ring(): void {
    if (this.#wake) this.#wake();
    else this.#isRung = true;
  }

  /** Resolves when it rings, after so many milliseconds at the latest. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#ends.removeEventListener('abort', end);
        this.#wake = undefined;
        this.#isRung = false;
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#ends.addEventListener('abort', end);
      this.#wake = end;
      if (this.#isRung || this.#ends.aborted) end();
    });
  }
}
