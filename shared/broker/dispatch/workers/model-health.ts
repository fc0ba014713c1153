import type { ErrorCode } from '#shared/core/errors.ts';
import { OutcomeAverage } from './outcome-average.ts';

/** Milliseconds from an ejection to the first probe, doubled with each probe that fails, up to the maximum. */
const firstProbeMs = 1_000;
const maxProbeMs = 30_000;

/** Milliseconds after a recovery in which a new ejection continues the old one's backoff. */
const relapseMs = 60_000;

/** Why a worker is ejected: the code of the errors in which it stands out among its peers, or that it is slow. */
export type EjectionReason = ErrorCode | 'slow';

/**
 * A worker that gets no jobs of this ingress with one model, except for one probe at a time. Times are milliseconds of
 * `performance.now()`.
 */
export interface Ejection {
  model: string;
  reason: EjectionReason;
  /** Whether this ingress found out by itself, rather than by another one's list. */
  isOwn: boolean;
  at: number;
  /** From when on one job may be given to it, to see whether it serves again. */
  probeAt: number;
  /** The grant of the job that probes it, while it does. */
  probe: string | undefined;
}

/** What one ingress knows of a worker from the outcomes of its jobs with one model, and whether it is ejected for them. */
export class ModelHealth {
  readonly model: string;
  readonly outcomes = new OutcomeAverage();
  #ejection: Ejection | undefined;
  /** Ejections and failed probes without a lasting recovery. */
  #relapses = 0;
  #recoveredAt = Number.NEGATIVE_INFINITY;

  constructor(model: string) {
    this.model = model;
  }

  /** Undefined unless it is ejected. */
  get ejection(): Readonly<Ejection> | undefined {
    return this.#ejection;
  }

  /** Whether it may be given a job now: it is not ejected, or a probe is due. */
  mayTake(now: number): boolean {
    const ejection = this.#ejection;
    return !ejection || (ejection.probe === undefined && now >= ejection.probeAt);
  }

  /**
   * Gives it no more jobs until a probe is due.
   * @param isOwn whether this ingress found out by itself, rather than by another one's list
   */
  eject(reason: EjectionReason, now: number, isOwn: boolean): void {
    if (now - this.#recoveredAt > relapseMs) this.#relapses = 0;
    const { model } = this;
    this.#ejection = { model, reason, isOwn, at: now, probeAt: now + this.#backoffMs(), probe: undefined };
  }

  /** Ends its ejection. */
  recover(now: number): void {
    this.#ejection = undefined;
    this.#recoveredAt = now;
    this.outcomes.clearFaults();
  }

  /** Makes a probe due at once: there is a sign that it serves again. */
  probeSoon(now: number): void {
    if (this.#ejection) this.#ejection.probeAt = now;
  }

  /** The probe of this grant has failed: the next one comes later. @returns false when the grant is not the probe's */
  probeFailed(grant: string, now: number): boolean {
    if (!this.#ejection || this.#ejection.probe !== grant) return false;
    this.#ejection.probeAt = now + this.#backoffMs();
    this.#ejection.probe = undefined;
    return true;
  }

  /** It is given a job: when it is ejected, as a probe. */
  took(grant: string): void {
    if (this.#ejection) this.#ejection.probe ??= grant;
  }

  /** It does not have a job any more. A probe that ends without an outcome, because its client left, is to be made again. */
  released(grant: string): void {
    if (this.#ejection?.probe === grant) this.#ejection.probe = undefined;
  }

  /** Spread, so that many ingress nodes do not probe at the same moment. */
  #backoffMs(): number {
    const ms = Math.min(maxProbeMs, firstProbeMs * 2 ** this.#relapses);
    this.#relapses = Math.min(this.#relapses + 1, 10);
    return ms * (0.75 + Math.random() * 0.5);
  }
}
