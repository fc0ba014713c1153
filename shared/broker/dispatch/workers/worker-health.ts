import { ModelHealth, type Ejection, type EjectionReason } from './model-health.ts';

/** Maximum models of one worker whose outcomes are kept. Beyond it, the model that was added first is dropped. */
const maxModels = 100;

/** An ejection, and when it ended. Times are milliseconds of `performance.now()`. */
export interface PastEjection extends Pick<Ejection, 'model' | 'reason' | 'ejectedAt'> {
  /** Undefined while the ejection lasts. */
  endedAt: number | undefined;
}

/** The outcomes of a worker's jobs at one dispatcher, by model or tool: averages, and ejections. */
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

  /** Whether the worker is ejected with a model; without `model`, whether it is ejected with any model. */
  isEjected(model?: string): boolean {
    if (this.#ejected.size === 0) return false;
    return model === undefined || this.#models.get(model)?.ejection !== undefined;
  }

  /** Whether the worker may get a job with a model now, because it is not ejected, or a probe is due. */
  mayTake(model: string, now: number): boolean {
    return this.#ejected.size === 0 || (this.#models.get(model)?.mayTake(now) ?? true);
  }

  /** Returns the health with a model; undefined if there are no outcomes. */
  find(model: string): ModelHealth | undefined {
    return this.#models.get(model);
  }

  /** Returns the health with a model, and creates it if there are no outcomes. */
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
   * @param isOwn whether this dispatcher ejects the worker by itself, rather than because of another dispatcher's list
   */
  eject(model: string, reason: EjectionReason, now: number, isOwn = true): void {
    const health = this.getOrCreate(model);
    health.eject(reason, now, isOwn);
    this.#ejected.add(health);
    this.#lastEjection = { model, reason, ejectedAt: now, endedAt: undefined };
  }

  /** Ends the ejection with a model. */
  recover(model: string, now: number): void {
    const health = this.#models.get(model);
    if (!health) return;
    health.recover(now);
    this.#ejected.delete(health);
    this.#endLastEjection(model, now);
  }

  /** Drops the models that the worker does not serve any more, and their ejections, because no probe would end these ejections. */
  keepOnly(isServed: (model: string) => boolean): void {
    for (const [model, health] of this.#models) {
      if (isServed(model)) continue;
      this.#models.delete(model);
      this.#ejected.delete(health);
      this.#endLastEjection(model, performance.now());
    }
  }

  #endLastEjection(model: string, now: number): void {
    const last = this.#lastEjection;
    if (last?.model === model) last.endedAt ??= now;
  }
}
