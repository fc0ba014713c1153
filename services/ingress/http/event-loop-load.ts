/** Milliseconds between two looks. */
const everyMs = 100;

/** The share of a look in the average, which follows the last seven or so. */
const weight = 0.15;

/** The most milliseconds that one look counts: a process that was stopped once is not behind. */
const mostOfOneMs = 3_000;

/**
 * How far behind this process is with its work: the milliseconds by which timers are late, on average over the last looks. An ingress that falls
 * behind reads too little from the broker, which then closes its connection; all its streams suffer. Before that, it refuses new requests.
 */
export class EventLoopLoad {
  readonly #mostMs: number;
  readonly #timer: NodeJS.Timeout;
  #delayMs = 0;
  #isBehind = false;
  #dueAt = performance.now() + everyMs;

  /** @param mostMs delay from which it is behind, until the delay is half of it; 0: never */
  constructor(mostMs: number) {
    this.#mostMs = mostMs;
    this.#timer = setInterval(() => this.#look(performance.now()), everyMs);
    this.#timer.unref();
  }

  /** Whether new requests are to be refused. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    const lateMs = Math.min(mostOfOneMs, Math.max(0, now - this.#dueAt));
    this.#dueAt = now + everyMs;
    this.#delayMs += (lateMs - this.#delayMs) * weight;
    this.#isBehind = this.#mostMs > 0 && this.#delayMs > (this.#isBehind ? this.#mostMs / 2 : this.#mostMs);
  }
}
