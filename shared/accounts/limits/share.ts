import { randomUUID } from 'node:crypto';
import { findNextBeginning } from '../periods.ts';
import type { PartyLimits } from './limits.ts';
import { bucketUnit, readPartyUses, toScriptParty, type Amount, type PartyUse } from './party-use.ts';
import { addAmount, createZeroQuantity, quantityNames, ShareDemand, type Quantity } from './share-demand.ts';

/**
 * Milliseconds without a request after which a share releases its free room. For the same time, a share requests no more room after Redis
 * has replied that a limit is nearly reached.
 */
const pauseMs = 1_000;

/** Minimum milliseconds between two reports of ended requests. */
const minReportGapMs = 100;

/** Times of a share, in milliseconds. */
export interface ShareTimes {
  /** How long the share lasts in Redis after a report. */
  keepMs: number;
  /** Maximum time between two reports, which renew the share in Redis. */
  renewEveryMs: number;
}

/** A report to Redis: the arguments of `lua/share.lua`. */
export type ShareReport = Readonly<Record<string, unknown>>;

/**
 * Room within the limits of some parties that one node has reserved in advance, so that their requests need not call Redis. Each request
 * draws from the free room the most that it may cost. Redis counts the whole share as reserved. The drawn amounts, the free room and the
 * use since the last report together never exceed the share.
 *
 * A report tells Redis the use since the last report, and requests more room. At most one report is sent at a time. Requests draw nothing
 * until Redis has confirmed the share. All times are by `performance.now()`. See docs/decisions/0020-shares-of-limits.md.
 */
export class Share {
  readonly id = randomUUID();
  readonly #parties: readonly PartyLimits[];
  readonly #times: ShareTimes;
  /** Whether any party limits concurrent requests. Each running request then takes one of the share's places. */
  readonly #countsPlaces: boolean;
  readonly #demand: ShareDemand;
  #free = createZeroQuantity();
  #drawn = createZeroQuantity();
  #running = 0;
  // Since the last report: the number of requests that began, the number that ended, and the use of the ended requests.
  #begun = 0;
  #ended = 0;
  #spent = createZeroQuantity();
  #uses: readonly PartyUse[] = [];
  #reportNumber = 0;
  #confirmedReports = 0;
  /** The report that was sent last, until it is answered. */
  #unansweredReport: ShareReport | undefined;
  /** Number of ended requests in `#unansweredReport`. */
  #reportedRequests = 0;
  #hasFailed = false;
  /** The time in Redis's first reply, in ms since 1970. All requests of the share count in the day of that time. */
  #beganAt: number | undefined;
  #dayEndsAt = Infinity;
  /** Requests may draw until this time. */
  #usableUntil = 0;
  /** The share requests no more room until this time, because a limit is nearly reached or the share gave its free room back. */
  #pausedUntil = 0;
  #lastRequestAt: number;
  #lastReportAt: number;

  constructor(parties: readonly PartyLimits[], times: ShareTimes, now: number) {
    this.#parties = parties;
    this.#times = times;
    this.#countsPlaces = parties.some(({ limits }) => limits.concurrentRequests !== undefined);
    this.#demand = new ShareDemand(now, this.#countsPlaces);
    this.#lastRequestAt = now;
    this.#lastReportAt = now;
  }

  get running(): number {
    return this.#running;
  }

  /** Number of finished requests that Redis has not counted yet. */
  get uncounted(): number {
    return this.#ended + this.#reportedRequests;
  }

  get confirmedReports(): number {
    return this.#confirmedReports;
  }

  /** Whether Redis may have the share. */
  get isStored(): boolean {
    return this.#reportNumber > 0;
  }

  /** Whether a report is unanswered, or has failed and is to be sent again. */
  get isReporting(): boolean {
    return this.#unansweredReport !== undefined;
  }

  /** Whether the share has free room for further requests. */
  get hasRoom(): boolean {
    return quantityNames.some((name) => this.#free[name] > 0);
  }

  /** Returns whether the day in which the share's requests count has ended. */
  isOver(now: number): boolean {
    return now >= this.#dayEndsAt;
  }

  /** Returns whether the share is no longer needed. */
  isIdle(now: number): boolean {
    const isUsed = this.#running > 0 || this.uncounted > 0 || this.isReporting || this.hasRoom;
    return !isUsed && (now - this.#lastRequestAt >= pauseMs || this.isOver(now));
  }

  /** Draws the most that a request may cost. Returns false if the share does not have that much free room. */
  draw(amount: Amount, now: number): boolean {
    if (!this.isStored) this.#demand.restart(now, pauseMs);
    this.#demand.addRequest(amount, this.#running);
    this.#lastRequestAt = now;
    const { requests, tokens, cost, places } = this.#free;
    const isEnough =
      requests >= 1 &&
      (amount.tokens === 0 || amount.tokens <= tokens) &&
      (amount.cost === 0 || amount.cost <= cost) &&
      (!this.#countsPlaces || places >= 1);
    if (!isEnough || now >= this.#usableUntil) return false;
    addAmount(this.#free, -1, { tokens: -amount.tokens, cost: -amount.cost });
    addAmount(this.#drawn, 0, amount);
    if (this.#countsPlaces) this.#free.places--;
    this.#running++;
    this.#begun++;
    return true;
  }

  /** Replaces the amount that a request has drawn by its actual use. */
  end(drawn: Amount, spent: Amount): void {
    addAmount(this.#drawn, 0, { tokens: -drawn.tokens, cost: -drawn.cost });
    addAmount(this.#free, 0, { tokens: drawn.tokens - spent.tokens, cost: drawn.cost - spent.cost });
    addAmount(this.#spent, 0, spent);
    if (this.#countsPlaces) this.#free.places++;
    this.#running--;
    this.#ended++;
  }

  /**
   * Stores the use of the parties that Redis returned for a request which did not draw on the share. Returns this use without the free room
   * of the share.
   * @param confirmed the number of confirmed reports before the request called Redis. If a further report was confirmed meanwhile, Redis
   * may have counted that report before or after the call. Then `uses` is returned unchanged, with the room of the share.
   */
  observe(uses: readonly PartyUse[], confirmed: number): readonly PartyUse[] {
    if (confirmed !== this.#confirmedReports) return uses;
    this.#uses = uses;
    return this.readUses();
  }

  /** Returns the last known use of the parties, without the free room of this share, which Redis counts as reserved. */
  readUses(): PartyUse[] {
    const { requests, tokens, cost, places } = this.#free;
    const correctPeriod = ({ spent, reserved }: PartyUse['day']): PartyUse['day'] => ({
      spent,
      reserved: { tokens: Math.max(0, reserved.tokens - tokens), cost: Math.max(0, reserved.cost - cost) },
    });
    return this.#uses.map(({ party, limits, at, buckets, active, day, month }) => ({
      party,
      limits,
      at,
      buckets: {
        requests: Math.max(0, buckets.requests - requests * bucketUnit),
        tokens: Math.max(0, buckets.tokens - tokens * bucketUnit),
      },
      active: Math.max(0, active - places),
      day: correctPeriod(day),
      month: correctPeriod(month),
    }));
  }

  /** Returns whether a report should be sent now. */
  isDue(now: number): boolean {
    const sinceMs = now - this.#lastReportAt;
    if (this.isReporting) return this.#hasFailed && sinceMs >= pauseMs;
    if (!this.isStored) return this.#demand.isBusy && now >= this.#pausedUntil;
    if ((this.#ended > 0 && sinceMs >= minReportGapMs) || sinceMs >= this.#times.renewEveryMs) return true;
    if (sinceMs >= pauseMs && (this.#begun > 0 || this.#usableUntil === 0)) return true;
    if (this.#shouldReleaseRoom(now) && this.hasRoom) return true;
    return (
      now >= this.#pausedUntil &&
      this.#isRoomLow() &&
      (this.#demand.isSlow ? this.#demand.isBusy : this.#demand.hasDemand)
    );
  }

  /**
   * Returns the report to send. This is the last report again if it was not answered.
   * @param givesBack whether to release the free room
   */
  report(now: number, givesBack = false): ShareReport {
    this.#lastReportAt = now;
    this.#hasFailed = false;
    if (this.#unansweredReport) return this.#unansweredReport;
    if (givesBack) this.#pausedUntil = now + pauseMs;
    this.#demand.updateTarget(now);
    const releasesRoom = this.#shouldReleaseRoom(now);
    for (const name of quantityNames) {
      const maxFree = releasesRoom ? 0 : this.#demand.target[name] * 2;
      this.#free[name] = Math.min(maxFree, Math.max(0, this.#free[name]));
    }
    this.#unansweredReport = {
      id: this.id,
      number: ++this.#reportNumber,
      beganAt: this.#beganAt,
      keepMs: this.#times.keepMs,
      begun: this.#begun,
      running: this.#running,
      spent: this.#spent,
      drawn: { ...this.#drawn },
      free: { ...this.#free },
      more: releasesRoom || !this.#isRoomLow() ? undefined : this.#computeMissing(),
      least: { ...this.#demand.mean },
      parties: this.#parties.map(toScriptParty),
    };
    this.#reportedRequests = this.#ended;
    this.#begun = 0;
    this.#ended = 0;
    this.#spent = createZeroQuantity();
    return this.#unansweredReport;
  }

  /** Applies Redis's reply to the report. */
  confirm(
    now: number,
    [isKept, isFar, requests = 0, tokens = 0, cost = 0, places = 0, at = 0, ...numbers]: readonly number[],
  ): void {
    this.#unansweredReport = undefined;
    this.#confirmedReports++;
    this.#reportedRequests = 0;
    this.#uses = readPartyUses(this.#parties, [at, ...numbers]);
    if (isKept !== 1) this.#free = createZeroQuantity();
    addAmount(this.#free, requests, { tokens, cost });
    this.#free.places += places;
    if (isFar !== 1) this.#pausedUntil = now + pauseMs;
    this.#beganAt ??= at;
    // Both times are computed from when the report was sent, because Redis processed it at that time or later.
    this.#dayEndsAt = this.#lastReportAt + findNextBeginning('day', this.#beganAt) - at;
    this.#usableUntil = Math.min(this.#lastReportAt + this.#times.keepMs * 0.75, this.#dayEndsAt);
  }

  /** Records that the report has no reply. It is sent again, because Redis may or may not have processed it. */
  fail(): void {
    this.#hasFailed = true;
    this.suspend();
  }

  /** Lets no request draw until Redis has answered a report, because the connection may lead to another Redis now. */
  suspend(): void {
    this.#usableUntil = 0;
  }

  /** Returns whether the next report should release the free room. */
  #shouldReleaseRoom(now: number): boolean {
    return now < this.#pausedUntil || now - this.#lastRequestAt >= pauseMs || this.isOver(now) || this.#demand.isSlow;
  }

  #isRoomLow(): boolean {
    return quantityNames.some((name) => this.#free[name] * 2 < this.#demand.target[name]);
  }

  #computeMissing(): Quantity {
    const missing = createZeroQuantity();
    for (const name of quantityNames) missing[name] = Math.max(0, this.#demand.target[name] - this.#free[name]);
    return missing;
  }
}
