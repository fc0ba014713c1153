import type { ErrorCode } from '#shared/core/errors.ts';
import { OutcomeAverage } from './outcome-average.ts';

/** Milliseconds from an ejection to the first probe. They double with each failed probe, up to `maxProbeMs`. */
const firstProbeMs = 1_000;
const maxProbeMs = 30_000;

/** Milliseconds after a recovery during which a new ejection continues the backoff of the last one. */
const relapseMs = 60_000;

/**
 * The reason of an ejection: the code of the errors with which the worker stands out among its peers, `slow`, or `worker_lost` for a worker
 * that returns one job after the other.
 */
export type EjectionReason = ErrorCode | 'slow';

/**
 * The ejection of a worker with one model. The worker gets no jobs of this dispatcher with the model, except for one probe at a time. Times
 * are milliseconds of `performance.now()`.
 */
export interface Ejection {
  model: string;
  reason: EjectionReason;
  /** Whether this dispatcher has ejected the worker by itself, rather than because of another dispatcher's list. */
  isOwn: boolean;
  /** When the worker was ejected. */
  ejectedAt: number;
  /** When the next probe is due: a job that shows whether the worker serves again. */
  probeAt: number;
  /** The grant of the probe that is running. */
  probeGrant: string | undefined;
  /** Whether the recovery of a peer has made a probe due. */
  isHurried: boolean;
}

/** The outcomes of a worker's jobs with one model at one dispatcher: averages, and the ejection. */
export class ModelHealth {
  readonly model: string;
  readonly outcomes = new OutcomeAverage();
  #ejection: Ejection | undefined;
  /** The number of ejections and failed probes since the last lasting recovery. */
  #relapses = 0;
  #recoveredAt = Number.NEGATIVE_INFINITY;

  constructor(model: string) {
    this.model = model;
  }

  /** Undefined unless the worker is ejected. */
  get ejection(): Readonly<Ejection> | undefined {
    return this.#ejection;
  }

  /** Whether the worker may get a job now, because it is not ejected, or a probe is due. */
  mayTake(now: number): boolean {
    const ejection = this.#ejection;
    return !ejection || (ejection.probeGrant === undefined && now >= ejection.probeAt);
  }

  /**
   * Ejects the worker, which gets no more jobs with this model until a probe is due.
   * @param isOwn whether this dispatcher ejects the worker by itself, rather than because of another dispatcher's list
   */
  eject(reason: EjectionReason, now: number, isOwn: boolean): void {
    if (now - this.#recoveredAt > relapseMs) this.#relapses = 0;
    const { model } = this;
    this.#ejection = {
      model,
      reason,
      isOwn,
      ejectedAt: now,
      probeAt: now + this.#computeBackoffMs(),
      probeGrant: undefined,
      isHurried: false,
    };
  }

  /** Ends the ejection. */
  recover(now: number): void {
    this.#ejection = undefined;
    this.#recoveredAt = now;
    this.outcomes.clearFaults();
  }

  /** Makes a probe due at once, because there is a sign that the worker serves again. */
  probeSoon(now: number): void {
    if (this.#ejection) this.#ejection.probeAt = now;
  }

  /**
   * Makes a probe due at once if the worker is ejected for a reason for which a peer was ejected that serves again. Does so once in each
   * ejection, so that workers that return their jobs do not get more of them because others of their kind recover again and again.
   */
  probeAfterPeer(reason: EjectionReason, now: number): void {
    const ejection = this.#ejection;
    if (ejection?.reason !== reason || ejection.isHurried) return;
    ejection.isHurried = true;
    this.probeSoon(now);
  }

  /**
   * Records that the job of a grant has failed. If the job was the probe, delays the next probe.
   * @returns whether the job was the probe
   */
  recordProbeFailure(grant: string, now: number): boolean {
    if (!this.#ejection || this.#ejection.probeGrant !== grant) return false;
    this.#ejection.probeAt = now + this.#computeBackoffMs();
    this.#ejection.probeGrant = undefined;
    return true;
  }

  /** Records that the worker gets a job. If it is ejected, the job is the probe. */
  recordJob(grant: string): void {
    if (this.#ejection) this.#ejection.probeGrant ??= grant;
  }

  /** Records that the worker does not have a job any more. A probe that ends without an outcome, because its client left, is repeated. */
  recordJobEnd(grant: string): void {
    if (this.#ejection?.probeGrant === grant) this.#ejection.probeGrant = undefined;
  }

  /** Computes the milliseconds until the next probe. They are partly random, so that many dispatchers do not probe at the same moment. */
  #computeBackoffMs(): number {
    const ms = Math.min(maxProbeMs, firstProbeMs * 2 ** this.#relapses);
    this.#relapses = Math.min(this.#relapses + 1, 10);
    return ms * (0.75 + Math.random() * 0.5);
  }
}
