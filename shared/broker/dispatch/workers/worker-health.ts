import { ModelHealth, type Ejection, type EjectionReason } from './model-health.ts';

/** Models whose outcomes are kept for one worker at most; beyond it the one that was added first goes. */
const maxModels = 100;

/** An ejection, and when it ended. Times are milliseconds of `performance.now()`. */
export interface PastEjection extends Pick<Ejection, 'model' | 'reason' | 'at'> {
  /** Undefined while it lasts. */
  endedAt: number | undefined;
}

/** What one ingress knows of a worker from the outcomes of its jobs, and with which models or tools it is ejected for them. */
export class WorkerHealth {
  readonly #models = new Map<string, ModelHealth>();
  /** Those that are ejected: mostly none. */
  readonly #ejected = new Set<ModelHealth>();
  #lastEjection: PastEjection | undefined;

  /** Its latest ejection, which may be over; undefined when there was none. */
  get lastEjection(): Readonly<PastEjection> | undefined {
    return this.#lastEjection;
  }

  /** Its ejections, the oldest first. */
  *ejections(): Iterable<Readonly<Ejection>> {
    for (const { ejection } of this.#ejected) if (ejection) yield ejection;
  }

  /** Whether it is ejected with a model, or with any where none is named. */
  isEjected(model?: string): boolean {
    if (this.#ejected.size === 0) return false;
    return model === undefined || this.#models.get(model)?.ejection !== undefined;
  }

  /** Whether it may be given a job with a model now: it is not ejected, or a probe is due. */
  mayTake(model: string, now: number): boolean {
    return this.#ejected.size === 0 || (this.#models.get(model)?.mayTake(now) ?? true);
  }

  /** The outcomes with a model; undefined when there were none. */
  find(model: string): ModelHealth | undefined {
    return this.#models.get(model);
  }

  /** The outcomes with a model, to be counted in. */
  of(model: string): ModelHealth {
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
   * Gives it no more jobs with a model until a probe is due.
   * @param isOwn whether this ingress found out by itself, rather than by another one's list
   */
  eject(model: string, reason: EjectionReason, now: number, isOwn = true): void {
    const health = this.of(model);
    health.eject(reason, now, isOwn);
    this.#ejected.add(health);
    this.#lastEjection = { model, reason, at: now, endedAt: undefined };
  }

  /** Ends its ejection with a model. */
  recover(model: string, now: number): void {
    const health = this.#models.get(model);
    if (!health) return;
    health.recover(now);
    this.#ejected.delete(health);
    this.#endLast(model, now);
  }

  /** Forgets the models that it does not serve any more: no job would end their ejections. */
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
