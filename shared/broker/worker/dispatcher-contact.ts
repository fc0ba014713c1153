/** Minimum milliseconds to keep a sent frame. A connection that dies loses what was sent shortly before. */
const keptMs = 1_000;

/** Milliseconds within which a dispatcher should answer an echo. If it takes longer, the frames sent since may be lost. */
const promptMs = 600;

/** Milliseconds after an outage during which a dispatcher may still find out which frames it misses. */
export const recoveryMs = 5_000;

/**
 * A worker's view of its connection to one dispatcher. Times are milliseconds of `performance.now()`.
 *
 * An answered echo confirms the frames that were sent before it, because the broker keeps the order of a connection's messages. A
 * dispatcher that was out of reach requests its missing frames when it returns. Until then, and for a while after, no frame counts as
 * confirmed.
 * See docs/decisions/0010-confirmed-frames.md.
 */
export class DispatcherContact {
  readonly ingress: string;
  #sentAt = performance.now();
  #cameAt = Number.NEGATIVE_INFINITY;
  #askedAt: number | undefined;
  #echoNumber = 0;
  #echoSentAt = Number.NEGATIVE_INFINITY;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #silentSince: number | undefined;
  #absentSince: number | undefined;
  #youngUntil = Number.NEGATIVE_INFINITY;

  constructor(ingress: string) {
    this.ingress = ingress;
  }

  get lastReceivedAt(): number {
    return this.#cameAt;
  }

  get usedAt(): number {
    return Math.max(this.#sentAt, this.#cameAt);
  }

  /** Whether the dispatcher has not answered in time although the broker lists it as a subscriber. */
  get isSilent(): boolean {
    return this.#silentSince !== undefined;
  }

  /** Since when nothing has come from the dispatcher although something should; undefined while it is in reach. */
  get lostSince(): number | undefined {
    return this.#absentSince ?? this.#silentSince;
  }

  /**
   * Records that something is sent to the dispatcher.
   * @param isAsked whether the dispatcher answers it at once
   */
  recordSent(isAsked = false): void {
    this.#sentAt = performance.now();
    if (isAsked) this.#askedAt ??= this.#sentAt;
  }

  isEchoDue(now: number, everyMs: number): boolean {
    return (this.#askedAt !== undefined || this.#sentAt > this.#echoSentAt) && now - this.#echoSentAt >= everyMs;
  }

  recordEcho(number: number, now: number): void {
    this.#echoNumber = number;
    this.#echoSentAt = now;
    this.#askedAt ??= now;
  }

  /** Whether the dispatcher has not answered for longer than `ms` and does not count as silent yet. */
  isOverdue(now: number, ms: number): boolean {
    return this.#silentSince === undefined && this.#askedAt !== undefined && now - this.#askedAt > ms;
  }

  markSilent(): void {
    this.#silentSince = this.#askedAt;
  }

  /**
   * Records that something came from the dispatcher.
   * @param echo the number of the echo that this answers
   */
  recordReceived(echo?: number): void {
    const now = performance.now();
    // A dispatcher that is always late is slow, not out of reach, so its confirmations count again after a while.
    const wasAway = this.lostSince !== undefined || (this.#isLate(now) && now > this.#youngUntil + recoveryMs);
    if (wasAway) this.#youngUntil = now + recoveryMs;
    this.#cameAt = now;
    this.#answered();
    this.#absentSince = undefined;
    if (echo === this.#echoNumber && now >= this.#youngUntil) this.#confirmedAt = this.#echoSentAt;
  }

  /**
   * Records that the broker has no subscriber for the dispatcher, because it has ended or lost its connection. It does not count as silent,
   * because the broker answers for it at once.
   */
  recordAbsent(): void {
    // A dispatcher whose host has vanished is silent first, until the broker closes its connection.
    this.#absentSince ??= this.#silentSince ?? performance.now();
    this.#answered();
  }

  /** Stops waiting for answers. Call it after the worker's own connection was lost. */
  reset(): void {
    this.#answered();
    this.#absentSince = undefined;
    this.#youngUntil = performance.now() + recoveryMs;
  }

  isDoubtful(now: number): boolean {
    return this.#isLate(now) || now < this.#youngUntil;
  }

  /** Returns the time before which all sent frames have reached the dispatcher. */
  confirmedBefore(now: number): number {
    return Math.min(now - keptMs, this.#confirmedAt);
  }

  #isLate(now: number): boolean {
    return this.#absentSince !== undefined || (this.#askedAt !== undefined && now - this.#askedAt > promptMs);
  }

  #answered(): void {
    this.#askedAt = undefined;
    this.#silentSince = undefined;
  }
}
