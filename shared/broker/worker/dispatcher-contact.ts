/** Minimum milliseconds for which a sent frame is kept. A connection that dies loses what was sent shortly before. */
const minKeptMs = 1_000;

/**
 * Milliseconds within which a dispatcher normally answers an echo request. If it takes longer, the frames that were sent since the request
 * may be lost.
 */
const maxAnswerMs = 600;

/** Milliseconds after an outage within which a dispatcher finds out which frames it misses. */
export const recoveryMs = 5_000;

/**
 * A worker's view of its connection to one dispatcher. Times are milliseconds of `performance.now()`.
 *
 * An answered echo request confirms the frames that were sent before the request, because the broker keeps the order of a connection's
 * messages. A dispatcher that was out of reach requests its missing frames when it returns. Until it returns, and for `recoveryMs` after,
 * no frame counts as confirmed.
 * See docs/decisions/0010-confirmed-frames.md.
 */
export class DispatcherContact {
  readonly ingress: string;
  #lastSentAt = performance.now();
  #lastReceivedAt = Number.NEGATIVE_INFINITY;
  /** When the first message was sent that the dispatcher has not answered yet; undefined if no answer is due. */
  #awaitingSince: number | undefined;
  #echoNumber = 0;
  #echoSentAt = Number.NEGATIVE_INFINITY;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #silentSince: number | undefined;
  #absentSince: number | undefined;
  /** The time until which the dispatcher may request frames that it missed during an outage. */
  #recoveringUntil = Number.NEGATIVE_INFINITY;

  constructor(ingress: string) {
    this.ingress = ingress;
  }

  get lastReceivedAt(): number {
    return this.#lastReceivedAt;
  }

  /** When something was last sent to the dispatcher or came from it. */
  get lastUsedAt(): number {
    return Math.max(this.#lastSentAt, this.#lastReceivedAt);
  }

  /** Whether the dispatcher has not answered in time although the broker lists it as a subscriber. */
  get isSilent(): boolean {
    return this.#silentSince !== undefined;
  }

  /** When the dispatcher went out of reach, because it is silent or absent; undefined while it is in reach. */
  get lostSince(): number | undefined {
    return this.#absentSince ?? this.#silentSince;
  }

  /**
   * Records that something is sent to the dispatcher.
   * @param isAnswered whether the dispatcher answers the message at once
   */
  recordSent(isAnswered = false): void {
    this.#lastSentAt = performance.now();
    if (isAnswered) this.#awaitingSince ??= this.#lastSentAt;
  }

  /**
   * Whether an echo request is due. This is so if something was sent since the last request, or an answer is due, and the last request is
   * at least `minIntervalMs` old.
   */
  isEchoDue(now: number, minIntervalMs: number): boolean {
    return (
      (this.#awaitingSince !== undefined || this.#lastSentAt > this.#echoSentAt) &&
      now - this.#echoSentAt >= minIntervalMs
    );
  }

  /** Records that an echo request with this number is sent. */
  recordEcho(number: number, now: number): void {
    this.#echoNumber = number;
    this.#echoSentAt = now;
    this.#awaitingSince ??= now;
  }

  /** Whether the dispatcher has not answered for longer than `maxWaitMs`, and does not count as silent yet. */
  isOverdue(now: number, maxWaitMs: number): boolean {
    return (
      this.#silentSince === undefined && this.#awaitingSince !== undefined && now - this.#awaitingSince > maxWaitMs
    );
  }

  markSilent(): void {
    this.#silentSince = this.#awaitingSince;
  }

  /**
   * Records that something came from the dispatcher.
   * @param echo the number of the echo request, if an echo request is answered
   */
  recordReceived(echo?: number): void {
    const now = performance.now();
    // A dispatcher that is always late is slow, not out of reach. So its answers confirm frames again after a while.
    const wasAway = this.lostSince !== undefined || (this.#isLate(now) && now > this.#recoveringUntil + recoveryMs);
    if (wasAway) this.#recoveringUntil = now + recoveryMs;
    this.#lastReceivedAt = now;
    this.#stopAwaiting();
    this.#absentSince = undefined;
    if (echo === this.#echoNumber && now >= this.#recoveringUntil) this.#confirmedAt = this.#echoSentAt;
  }

  /**
   * Records that the dispatcher is not subscribed any more, because it has ended or lost its connection. The dispatcher does not count as
   * silent, because the broker reports its absence at once.
   */
  recordAbsent(): void {
    // If a dispatcher's host vanishes, the dispatcher is first silent, and becomes absent when the broker closes its connection.
    this.#absentSince ??= this.#silentSince ?? performance.now();
    this.#stopAwaiting();
  }

  /** Stops waiting for answers. Call it after the worker's own connection was lost. */
  reset(): void {
    this.#stopAwaiting();
    this.#absentSince = undefined;
    this.#recoveringUntil = performance.now() + recoveryMs;
  }

  /** Whether the dispatcher may be out of reach. If so, it may request frames again that were sent long ago. */
  isDoubtful(now: number): boolean {
    return this.#isLate(now) || now < this.#recoveringUntil;
  }

  /** Returns a time before which all sent frames have certainly reached the dispatcher. */
  findConfirmedTime(now: number): number {
    return Math.min(now - minKeptMs, this.#confirmedAt);
  }

  #isLate(now: number): boolean {
    return (
      this.#absentSince !== undefined || (this.#awaitingSince !== undefined && now - this.#awaitingSince > maxAnswerMs)
    );
  }

  #stopAwaiting(): void {
    this.#awaitingSince = undefined;
    this.#silentSince = undefined;
  }
}
