import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Logger } from '#shared/core/log.ts';

export interface FollowOptions {
  read: () => Promise<ModelInfo[]>;
  log: Logger;
  /** Milliseconds between two looks; each is varied, so that many workers do not ask in step. */
  everyMs: number;
  /** Called with all models whenever they have changed. */
  onChange: (models: ModelInfo[]) => void;
}

/** Milliseconds before the first new try of a list that could not be read, doubled with each further one. */
const firstRetryMs = 1000;

/** Follows what a provider serves for as long as the worker lives. While it does not tell, what it told last holds. */
export class ModelFollower {
  readonly #options: FollowOptions;
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #models: ModelInfo[];
  #failures = 0;

  /** @param models what is known before the first look, which comes at once */
  constructor(options: FollowOptions, models: ModelInfo[]) {
    this.#options = options;
    this.#models = models;
    this.#loop = this.#follow();
  }

  get models(): readonly ModelInfo[] {
    return this.#models;
  }

  /** Stops looking. Settles when the last look is over, which is bounded by its time-out. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    let isFirst = true;
    while (!signal.aborted) {
      if (!isFirst) await sleep(this.#pauseMs(), undefined, { signal }).catch(() => undefined);
      isFirst = false;
      if (!signal.aborted) await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { read, log, onChange } = this.#options;
    try {
      const models = await read();
      this.#failures = 0;
      if (isDeepStrictEqual(models, this.#models)) return;
      this.#models = models;
      log.info({ models: models.length }, 'models read');
      onChange(models);
    } catch (error) {
      this.#failures += 1;
      log.warn({ err: error }, 'the models cannot be read');
    }
  }

  #pauseMs(): number {
    const { everyMs } = this.#options;
    const ms = this.#failures === 0 ? everyMs : Math.min(everyMs, firstRetryMs * 2 ** (this.#failures - 1));
    return ms * (0.8 + Math.random() * 0.4);
  }
}
