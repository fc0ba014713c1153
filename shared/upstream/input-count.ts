/** Milliseconds that a stream's first piece waits for the count, once it is there. */
const mostMs = 50;

/**
 * The input tokens of a request whose answer is to begin with them: counted by the upstream while it reads the input for the
 * answer, or estimated where it does not count in time.
 */
export class InputCount {
  readonly #counted: Promise<void> | undefined;
  #tokens: number;
  #isSettled = false;

  /** @param counting does not reject; resolves to undefined if the upstream cannot count, and is undefined if it is not asked */
  constructor(counting: Promise<number | undefined> | undefined, estimated: number) {
    this.#tokens = estimated;
    this.#counted = counting?.then((tokens) => {
      this.#tokens = tokens ?? estimated;
      this.#isSettled = true;
    });
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** Resolves when the tokens are counted, or have been waited for long enough. Undefined if they are counted. */
  wait(): Promise<void> | undefined {
    if (!this.#counted || this.#isSettled) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, mostMs);
    void this.#counted.then(() => {
      clearTimeout(timer);
      resolve();
    });
    return promise;
  }
}
