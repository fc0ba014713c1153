/** Releases one resource. It must be safe to call once, and settle in bounded time. */
export type Release = () => void | Promise<void>;

/**
 * A stack of things to release. What was acquired last is released first; a release that fails does not keep the
 * others from running. `main.ts` of every service owns one and runs it on SIGTERM and SIGINT.
 */
export class Releases {
  readonly #stack: { name: string; release: Release }[] = [];
  #running: Promise<Error[]> | undefined;

  /** Registers a release under a name that appears in the error when it fails. */
  add(name: string, release: Release): void {
    this.#stack.push({ name, release });
  }

  /** Runs all releases once, last in first out, and returns the errors of those that failed. */
  run(): Promise<Error[]> {
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
