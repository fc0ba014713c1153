/** Milliseconds between attempts to reach a server that was lost. */
const lostMs = 100;

/** Milliseconds between attempts at one that refuses who asks: only an operator can change its mind. */
const refusedMs = 5_000;

/** How long the connection waits before it asks a server again: after a refusal much longer than after a loss. */
export class ReconnectPace {
  #isRefused = false;

  /** Notes how the last attempt ended. */
  note(isRefused: boolean): void {
    this.#isRefused = isRefused;
  }

  /** Milliseconds until the next attempt, with some chance, so that a thousand workers do not come at once. */
  readonly delayMs = (): number => (this.#isRefused ? refusedMs : lostMs) * (1 + Math.random());
}
