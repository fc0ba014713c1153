import type { KeepOutcome } from '#shared/store/owned-store/owned-store.ts';
import type { Logger } from '#shared/core/log.ts';
import { toLoggableError } from '#shared/core/loggable-error.ts';

/** Outcome of a recording: `lost` if Redis did not store it. */
export type RecordingOutcome = KeepOutcome | 'lost';

/** Milliseconds between two log lines about lost recordings. */
const quietMs = 60_000;

/**
 * Logs lost recordings: the first loss at once, then the number of further losses once a minute. While Redis is unreachable, every
 * recording is lost.
 */
export class LostRecordings {
  readonly #log: Pick<Logger, 'warn'>;
  #unlogged = 0;
  #reason: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  /** Counts a recording that was lost because of this error. */
  add(error: unknown): void {
    this.#unlogged += 1;
    this.#reason = findReason(error);
    if (this.#timer === undefined) this.#write();
  }

  /** Logs the losses that are not logged yet, and stops the timer. */
  close(): void {
    if (this.#unlogged > 0) this.#write();
    clearTimeout(this.#timer);
  }

  #write(): void {
    this.#log.warn({ lost: this.#unlogged, reason: this.#reason }, 'recorded requests are lost');
    this.#unlogged = 0;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#unlogged > 0) this.#write();
    }, quietMs);
    this.#timer.unref();
  }
}

/**
 * Returns the message of the error's cause, which comes from Redis or its client library; without a cause, returns the message of the
 * error.
 */
function findReason(error: unknown): string | undefined {
  const { message, cause } = toLoggableError(error) ?? {};
  return cause?.message ?? message;
}
