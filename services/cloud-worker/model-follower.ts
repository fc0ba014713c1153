import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Logger } from '#shared/core/log.ts';

export interface ModelFollowerOptions {
  read: () => Promise<ModelInfo[]>;
  log: Logger;
  /**
   * Milliseconds between two reads of the models. The actual pauses vary by up to 20 %, so that many workers do not read at the same time.
   */
  everyMs: number;
  onChange: (models: ModelInfo[]) => void;
}

/** Milliseconds until the first retry after a failure. The pause doubles with each further failure. */
const firstRetryMs = 1000;

/** Polls the models that a provider serves. While the models cannot be read, the last list stays. */
export class ModelFollower {
  readonly #options: ModelFollowerOptions;
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #models: ModelInfo[];
  #failures = 0;

  /** @param firstModels the models known before the first read, which starts at once */
  constructor(options: ModelFollowerOptions, firstModels: ModelInfo[]) {
    this.#options = options;
    this.#models = firstModels;
    this.#loop = this.#follow();
  }

  get models(): readonly ModelInfo[] {
    return this.#models;
  }

  /** Stops polling. Resolves when the current read has ended, at the latest after its timeout. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    let isFirst = true;
    while (!signal.aborted) {
      if (!isFirst) await sleep(this.#computePauseMs(), undefined, { signal }).catch(() => undefined);
      isFirst = false;
      if (!signal.aborted) await this.#poll();
    }
  }

  async #poll(): Promise<void> {
    const { read, log, onChange } = this.#options;
    try {
      const models = await read();
      if (this.#failures > 0) log.info('the models can be read again');
      this.#failures = 0;
      if (isDeepStrictEqual(models, this.#models)) return;
      this.#models = models;
      log.info({ models: models.length }, 'the models have changed');
      onChange(models);
    } catch (error) {
      this.#failures += 1;
      log.warn({ err: error }, 'the models cannot be read');
    }
  }

  #computePauseMs(): number {
    const { everyMs } = this.#options;
    const ms = this.#failures === 0 ? everyMs : Math.min(everyMs, firstRetryMs * 2 ** (this.#failures - 1));
    return ms * (0.8 + Math.random() * 0.4);
  }
}
