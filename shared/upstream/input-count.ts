const maxMs = 50;

/**
 * The input tokens of a request whose answer must begin with them. They are counted by the upstream while it reads the input for the
 * answer, or estimated if it does not count in time.
 */
export class InputCount {
  readonly #counted: Promise<void> | undefined;
  #tokens: number;
  #isSettled = false;

  /**
   * @param counting the upstream's count. It never rejects, and resolves to undefined if the upstream cannot count. Undefined if no count
   * is requested
   */
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

  /** Resolves when the tokens are counted, or after `maxMs`; undefined if they are counted already. */
  wait(): Promise<void> | undefined {
    if (!this.#counted || this.#isSettled) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxMs);
    void this.#counted.then(() => {
      clearTimeout(timer);
      resolve();
    });
    return promise;
  }
}
