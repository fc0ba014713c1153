/** Maximum milliseconds that an answer waits for the upstream's count. */
const maxWaitMs = 50;

/**
 * The number of input tokens of a request whose answer begins with this number. The upstream counts the tokens while it reads the input for
 * the answer. If it does not count in time, the number is an estimate.
 */
export class InputCount {
  readonly #counting: Promise<void> | undefined;
  #tokens: number;
  #isSettled = false;

  /**
   * @param counting resolves to the upstream's count, or to undefined if the upstream cannot count; never rejects. Undefined if no count
   * was requested
   */
  constructor(counting: Promise<number | undefined> | undefined, estimated: number) {
    this.#tokens = estimated;
    this.#counting = counting?.then((tokens) => {
      this.#tokens = tokens ?? estimated;
      this.#isSettled = true;
    });
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** Resolves when the tokens are counted, or after `maxWaitMs`. Returns undefined if there is no count to wait for. */
  wait(): Promise<void> | undefined {
    if (!this.#counting || this.#isSettled) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxWaitMs);
    void this.#counting.then(() => {
      clearTimeout(timer);
      resolve();
    });
    return promise;
  }
}
