import type { Logger } from '#shared/core/log.ts';
import type { Files } from './files.ts';

/** Mean interval between two sweeps of a process, in milliseconds. */
const intervalMs = 60_000;

/** Sweeps files about once a minute. Every process sweeps, but each object is removed by only one of them. */
export class FileSweep {
  readonly #files: Pick<Files, 'sweep'>;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #isRunning = false;

  constructor(files: Pick<Files, 'sweep'>, log: Logger) {
    this.#files = files;
    this.#log = log;
    // The interval is random, so that processes that start together do not sweep together.
    this.#timer = setInterval(() => this.#sweep(), intervalMs * (0.75 + Math.random() / 2)).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#files
      .sweep()
      .catch((error: unknown) => this.#log.warn({ err: error }, 'files could not be swept, trying again'))
      .finally(() => {
        this.#isRunning = false;
      });
  }
}
