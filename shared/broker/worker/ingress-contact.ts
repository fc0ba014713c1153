/** Milliseconds for which a sent frame is kept in any case. A connection that dies loses what was sent shortly before. */
const keptMs = 1_000;

/** Milliseconds for the answer to an echo; after them what was sent meanwhile may be lost. */
const promptMs = 600;

/** Milliseconds after an outage in which an ingress may still find out which frames it misses. */
export const youngMs = 5_000;

/**
 * What a worker knows of the way to one ingress. Times are milliseconds of `performance.now()`.
 *
 * An echo that is answered confirms what was sent before it: the broker keeps the order of a connection's messages. Where the
 * ingress was away meanwhile, it asks for the frames that it misses when it is back, and for a while nothing counts as
 * confirmed.
 * See docs/decisions/0010-confirmed-frames.md.
 */
export class IngressContact {
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

  /** When something last came from it. */
  get cameAt(): number {
    return this.#cameAt;
  }

  /** When something was last sent to it, or came from it. */
  get usedAt(): number {
    return Math.max(this.#sentAt, this.#cameAt);
  }

  /** Whether it has not answered for longer than it may take, although the broker lists it as a subscriber. */
  get isSilent(): boolean {
    return this.#silentSince !== undefined;
  }

  /** Since when nothing has come from it although something should; undefined while it is in reach. */
  get lostSince(): number | undefined {
    return this.#absentSince ?? this.#silentSince;
  }

  /** Something is sent to it. @param isAsked whether it answers at once */
  sent(isAsked = false): void {
    this.#sentAt = performance.now();
    if (isAsked) this.#askedAt ??= this.#sentAt;
  }

  /** Whether the next echo is due. */
  wantsEcho(now: number, everyMs: number): boolean {
    return (this.#askedAt !== undefined || this.#sentAt > this.#echoSentAt) && now - this.#echoSentAt >= everyMs;
  }

  /** An echo of this number is sent. */
  asked(number: number, now: number): void {
    this.#echoNumber = number;
    this.#echoSentAt = now;
    this.#askedAt ??= now;
  }

  /** Whether it has not answered for so many milliseconds, and does not count as silent yet. */
  isOverdue(now: number, ms: number): boolean {
    return this.#silentSince === undefined && this.#askedAt !== undefined && now - this.#askedAt > ms;
  }

  /** It has not answered in time. */
  fallSilent(): void {
    this.#silentSince = this.#askedAt;
  }

  /** Something came from it. @param echo the number of the echo that this answers */
  came(echo?: number): void {
    const now = performance.now();
    // One that is late all the time is slow, not away: what it confirms counts again after a while.
    const wasAway = this.lostSince !== undefined || (this.#isLate(now) && now > this.#youngUntil + youngMs);
    if (wasAway) this.#youngUntil = now + youngMs;
    this.#cameAt = now;
    this.#answered();
    this.#absentSince = undefined;
    if (echo === this.#echoNumber && now >= this.#youngUntil) this.#confirmedAt = this.#echoSentAt;
  }

  /** The broker has no subscriber for it: it is gone, or without connection, but it holds nobody up. */
  absent(): void {
    // A host that vanished is silent first, until the broker closes its connection.
    this.#absentSince ??= this.#silentSince ?? performance.now();
    this.#answered();
  }

  /** The worker's own connection was lost, and with it whatever was asked. */
  reset(): void {
    this.#answered();
    this.#absentSince = undefined;
    this.#youngUntil = performance.now() + youngMs;
  }

  /** Whether frames that are sent to it now may get lost, as far as known. */
  isDoubtful(now: number): boolean {
    return this.#isLate(now) || now < this.#youngUntil;
  }

  /** Frames that were sent before this time have come. */
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
