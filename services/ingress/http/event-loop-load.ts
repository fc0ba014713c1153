/** Milliseconds between two samples. */
const sampleMs = 100;

/** Weight of one sample in the moving average. With this weight, the average covers about the last seven samples. */
const sampleWeight = 0.15;

/** Largest value of one sample in milliseconds, so that a process that was suspended once does not count as overloaded. */
const maxSampleMs = 3_000;

/**
 * Measures the load of the event loop as the moving average of the milliseconds by which timers run late. The ingress refuses new requests
 * before it becomes so slow that the broker closes the connection, which would interrupt all streams of the ingress.
 */
export class EventLoopLoad {
  readonly #maxMs: number;
  readonly #timer: NodeJS.Timeout;
  #delayMs = 0;
  #isBehind = false;
  #dueAt = performance.now() + sampleMs;

  /**
   * @param maxMs average delay above which `isBehind` becomes true; it becomes false again at half of that delay
   */
  constructor(maxMs = 1_000) {
    this.#maxMs = maxMs;
    this.#timer = setInterval(() => this.#sample(performance.now()), sampleMs);
    this.#timer.unref();
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sample(now: number): void {
    const lateMs = Math.min(maxSampleMs, Math.max(0, now - this.#dueAt));
    this.#dueAt = now + sampleMs;
    this.#delayMs += (lateMs - this.#delayMs) * sampleWeight;
    this.#isBehind = this.#delayMs > (this.#isBehind ? this.#maxMs / 2 : this.#maxMs);
  }
}
