import { ModelHealth, type Ejection, type EjectionReason } from './model-health.ts';

/** Maximum models with outcomes for one worker; beyond it the first-added one is dropped. */
const maxModels = 100;

/** An ejection, and when it ended. Times are milliseconds of `performance.now()`. */
export interface PastEjection extends Pick<Ejection, 'model' | 'reason' | 'at'> {
  /** Undefined while the ejection lasts. */
  endedAt: number | undefined;
}

/** A dispatcher's record of a worker from the outcomes of its jobs, and the models or tools with which it is ejected. */
export class WorkerHealth {
  readonly #models = new Map<string, ModelHealth>();
  readonly #ejected = new Set<ModelHealth>();
  #lastEjection: PastEjection | undefined;

  /** The latest ejection, which may have ended; undefined if there was none. */
  get lastEjection(): Readonly<PastEjection> | undefined {
    return this.#lastEjection;
  }

  /** Yields the current ejections, oldest first. */
  *ejections(): Iterable<Readonly<Ejection>> {
    for (const { ejection } of this.#ejected) if (ejection) yield ejection;
  }

  /** Whether it is ejected with a model, or with any model if none is named. */
  isEjected(model?: string): boolean {
    if (this.#ejected.size === 0) return false;
    return model === undefined || this.#models.get(model)?.ejection !== undefined;
  }

  /** Whether the worker may get a job with a model now, because it is not ejected, or a probe is due. */
  mayTake(model: string, now: number): boolean {
    return this.#ejected.size === 0 || (this.#models.get(model)?.mayTake(now) ?? true);
  }

  find(model: string): ModelHealth | undefined {
    return this.#models.get(model);
  }

  /** Returns the outcomes with a model, and creates them if there are none. */
  getOrCreate(model: string): ModelHealth {
    let health = this.#models.get(model);
    if (health) return health;
    health = new ModelHealth(model);
    this.#models.set(model, health);
    for (const [name, oldest] of this.#models) {
      if (this.#models.size <= maxModels) break;
      this.#models.delete(name);
      this.#ejected.delete(oldest);
    }
    return health;
  }

  /**
   * Ejects the worker, which gets no more jobs with a model until a probe is due.
   * @param isOwn whether this dispatcher ejects it by itself, rather than because of another dispatcher's list
   */
  eject(model: string, reason: EjectionReason, now: number, isOwn = true): void {
    const health = this.getOrCreate(model);
    health.eject(reason, now, isOwn);
    this.#ejected.add(health);
    this.#lastEjection = { model, reason, at: now, endedAt: undefined };
  }

  recover(model: string, now: number): void {
    const health = this.#models.get(model);
    if (!health) return;
    health.recover(now);
    this.#ejected.delete(health);
    this.#endLast(model, now);
  }

  /** Drops models that it does not serve any more, with their ejections, which no job would end. */
  keepOnly(isServed: (model: string) => boolean): void {
    for (const [model, health] of this.#models) {
      if (isServed(model)) continue;
      this.#models.delete(model);
      this.#ejected.delete(health);
      this.#endLast(model, performance.now());
    }
  }

  #endLast(model: string, now: number): void {
    const last = this.#lastEjection;
    if (last?.model === model) last.endedAt ??= now;
  }
}
