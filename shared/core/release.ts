/** Releases one resource. It is called once, and must settle in bounded time. */
export type Release = () => void | Promise<void>;

/**
 * A stack of resources to release, last acquired first. A release that fails does not prevent the others. Every service has one stack,
 * which is released on SIGTERM and SIGINT (see `runService`).
 */
export class Releases {
  readonly #stack: { name: string; release: Release }[] = [];
  #running: Promise<Error[]> | undefined;

  /** Registers a release. The name appears in the error if the release fails. */
  add(name: string, release: Release): void {
    this.#stack.push({ name, release });
  }

  /**
   * Runs all releases, the last registered first, and resolves with the errors of the failed releases. Further calls join the first call.
   */
  releaseAll(): Promise<Error[]> {
    this.#running ??= this.#runAll();
    return this.#running;
  }

  async #runAll(): Promise<Error[]> {
    const failures: Error[] = [];
    for (let next = this.#stack.pop(); next; next = this.#stack.pop()) {
      try {
        await next.release();
      } catch (cause) {
        failures.push(new Error(`releasing ${next.name} failed`, { cause }));
      }
    }
    return failures;
  }
}
