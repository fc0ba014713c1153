import type { KeepOutcome } from '#shared/accounts/recordings/recordings.ts';
import type { Logger } from '#shared/core/log.ts';
import { loggableError } from '#shared/core/loggable-error.ts';

/** What became of a recording: `lost` where Redis has not taken it. */
export type RecordingOutcome = KeepOutcome | 'lost';

/** Minimum interval between two log lines about recordings that are lost, in milliseconds. */
const quietMs = 60_000;

/**
 * Logs recordings that are lost: the first one at once, and those that follow once a minute, as their number. While Redis is away, each
 * recorded request is one.
 */
export class LostRecordings {
  readonly #log: Pick<Logger, 'warn'>;
  #unlogged = 0;
  #reason: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  /** Takes a recording that is lost. @param error why */
  add(error: unknown): void {
    this.#unlogged += 1;
    this.#reason = reasonOf(error);
    if (this.#timer === undefined) this.#write();
  }

  /** Logs those that are not logged yet, and ends. */
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

/** What Redis or its client said, rather than the sentence for clients around it. */
function reasonOf(error: unknown): string | undefined {
  const { message, cause } = loggableError(error) ?? {};
  return cause?.message ?? message;
}
