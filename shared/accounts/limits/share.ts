import { randomUUID } from 'node:crypto';
import { nextBeginning } from '../periods.ts';
import type { PartyLimits } from './limits.ts';
import { bucketUnit, readPartyUses, toScriptParty, type Amount, type PartyUse } from './party-use.ts';
import { addTo, zeroQuantity, quantityNames, ShareDemand, type Quantity } from './share-demand.ts';

/**
 * Milliseconds after the last request until the room of a share is released. After Redis has said that a limit is nearly reached, the share
 * requests no more room for the same time.
 */
const pauseMs = 1_000;

const reportMs = 100;

/** Times of a share, in milliseconds. */
export interface ShareTimes {
  /** How long the share lasts in Redis after a report. */
  keepMs: number;
  /** How often the share is renewed in Redis. */
  renewEveryMs: number;
}

/** A report to Redis: the arguments of `lua/share.lua`. */
export type ShareReport = Readonly<Record<string, unknown>>;

/**
 * What one node has reserved beforehand for the requests of some parties, so that a request need not call Redis. Redis counts the share as
 * reserved. What running requests have drawn, what is free, and what was spent since the last report are together never more than the
 * share. Reports state what was spent and request more room; at most one is sent at a time. While it is not certain that Redis has the
 * share, requests draw nothing from it. Times are those of `performance.now()`. See docs/decisions/0020-shares-of-limits.md.
 */
export class Share {
  readonly id = randomUUID();
  readonly #parties: readonly PartyLimits[];
  readonly #times: ShareTimes;
  /** Whether a party has a limit of concurrent requests, so that each running request takes one of the share's places. */
  readonly #countsPlaces: boolean;
  readonly #demand: ShareDemand;
  #free = zeroQuantity();
  #drawn = zeroQuantity();
  #running = 0;
  // Numbers of requests that began and that ended since the last report, and what the ended ones spent.
  #begun = 0;
  #ended = 0;
  #spent = zeroQuantity();
  #uses: readonly PartyUse[] = [];
  #number = 0;
  #confirmedReports = 0;
  /** The report that was sent and is not answered yet. */
  #report: ShareReport | undefined;
  /** The number of ended requests in `#report`. */
  #reportedCount = 0;
  #hasFailed = false;
  /** The time in Redis's first reply, in ms since 1970. All requests of the share count in the day of that time. */
  #beganAt: number | undefined;
  #dayEndsAt = Infinity;
  /** Requests may draw until this time. */
  #usableUntil = 0;
  /** The share requests no more room until this time, because a limit is nearly reached. */
  #nearUntil = 0;
  #askedAt: number;
  #reportedAt: number;

  constructor(parties: readonly PartyLimits[], times: ShareTimes, now: number) {
    this.#parties = parties;
    this.#times = times;
    this.#countsPlaces = parties.some(({ limits }) => limits.concurrentRequests !== undefined);
    this.#demand = new ShareDemand(now, this.#countsPlaces);
    this.#askedAt = now;
    this.#reportedAt = now;
  }

  get running(): number {
    return this.#running;
  }

  /** Number of finished requests that Redis has not counted yet. */
  get uncounted(): number {
    return this.#ended + this.#reportedCount;
  }

  get confirmedReports(): number {
    return this.#confirmedReports;
  }

  /** Whether Redis may have the share. */
  get isStored(): boolean {
    return this.#number > 0;
  }

  /** Whether a report is not answered yet, or has failed. */
  get isReporting(): boolean {
    return this.#report !== undefined;
  }

  /** Whether the share has room for requests to come. */
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
    return !isUsed && (now - this.#askedAt >= pauseMs || this.isOver(now));
  }

  /** Draws the most that a request may cost, if the share has that much room. Returns false if it has not. */
  draw(amount: Amount, now: number): boolean {
    if (!this.isStored) this.#demand.restart(now, pauseMs);
    this.#demand.note(amount, this.#running);
    this.#askedAt = now;
    const { requests, tokens, cost, places } = this.#free;
    const isEnough =
      requests >= 1 &&
      (amount.tokens === 0 || amount.tokens <= tokens) &&
      (amount.cost === 0 || amount.cost <= cost) &&
      (!this.#countsPlaces || places >= 1);
    if (!isEnough || now >= this.#usableUntil) return false;
    addTo(this.#free, -1, { tokens: -amount.tokens, cost: -amount.cost });
    addTo(this.#drawn, 0, amount);
    if (this.#countsPlaces) this.#free.places--;
    this.#running++;
    this.#begun++;
    return true;
  }

  /** Replaces what a request has drawn by its actual use. */
  end(drawn: Amount, spent: Amount): void {
    addTo(this.#drawn, 0, { tokens: -drawn.tokens, cost: -drawn.cost });
    addTo(this.#free, 0, { tokens: drawn.tokens - spent.tokens, cost: drawn.cost - spent.cost });
    addTo(this.#spent, 0, spent);
    if (this.#countsPlaces) this.#free.places++;
    this.#running--;
    this.#ended++;
  }

  /**
   * Stores the use of the parties that Redis returned to a request which did not draw on the share. Returns the use without the room of the
   * share.
   * @param confirmed how many reports were confirmed before the call of that request. If a report was confirmed since, Redis may have
   * counted it before or after that call. Then `uses` is returned unchanged, with the room of the share.
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
    const sinceMs = now - this.#reportedAt;
    if (this.isReporting) return this.#hasFailed && sinceMs >= pauseMs;
    if (!this.isStored) return this.#demand.isBusy && now >= this.#nearUntil;
    if ((this.#ended > 0 && sinceMs >= reportMs) || sinceMs >= this.#times.renewEveryMs) return true;
    if (sinceMs >= pauseMs && (this.#begun > 0 || this.#usableUntil === 0)) return true;
    if (this.#isLeaving(now) && this.hasRoom) return true;
    return (
      now >= this.#nearUntil && this.#isLow() && (this.#demand.isSlow ? this.#demand.isBusy : this.#demand.hasDemand)
    );
  }

  /**
   * Returns the report to send. If the last report was not answered, it is sent once more.
   * @param givesBack whether to release the room for requests to come
   */
  report(now: number, givesBack = false): ShareReport {
    this.#reportedAt = now;
    this.#hasFailed = false;
    if (this.#report) return this.#report;
    if (givesBack) this.#nearUntil = now + pauseMs;
    this.#demand.aim(now);
    const leaves = this.#isLeaving(now);
    for (const name of quantityNames) {
      const most = leaves ? 0 : this.#demand.target[name] * 2;
      this.#free[name] = Math.min(most, Math.max(0, this.#free[name]));
    }
    this.#report = {
      id: this.id,
      number: ++this.#number,
      beganAt: this.#beganAt,
      keepMs: this.#times.keepMs,
      begun: this.#begun,
      running: this.#running,
      spent: this.#spent,
      drawn: { ...this.#drawn },
      free: { ...this.#free },
      more: leaves || !this.#isLow() ? undefined : this.#computeMissing(),
      least: { ...this.#demand.mean },
      parties: this.#parties.map(toScriptParty),
    };
    this.#reportedCount = this.#ended;
    this.#begun = 0;
    this.#ended = 0;
    this.#spent = zeroQuantity();
    return this.#report;
  }

  /** Takes over what Redis replied to the report. */
  confirm(
    now: number,
    [isKept, isFar, requests = 0, tokens = 0, cost = 0, places = 0, at = 0, ...numbers]: readonly number[],
  ): void {
    this.#report = undefined;
    this.#confirmedReports++;
    this.#reportedCount = 0;
    this.#uses = readPartyUses(this.#parties, [at, ...numbers]);
    if (isKept !== 1) this.#free = zeroQuantity();
    addTo(this.#free, requests, { tokens, cost });
    this.#free.places += places;
    if (isFar !== 1) this.#nearUntil = now + pauseMs;
    this.#beganAt ??= at;
    // Computed from the time when the report was sent, because Redis answered later.
    this.#dayEndsAt = this.#reportedAt + nextBeginning('day', this.#beganAt) - at;
    this.#usableUntil = Math.min(this.#reportedAt + this.#times.keepMs * 0.75, this.#dayEndsAt);
  }

  /** Records that nobody knows whether Redis has processed the report, so that it is sent again. */
  fail(): void {
    this.#hasFailed = true;
    this.suspend();
  }

  /** Lets no request draw until Redis has answered a report, because the connection may lead to another Redis now. */
  suspend(): void {
    this.#usableUntil = 0;
  }

  /** Returns whether the share should release its room. */
  #isLeaving(now: number): boolean {
    return now < this.#nearUntil || now - this.#askedAt >= pauseMs || this.isOver(now) || this.#demand.isSlow;
  }

  #isLow(): boolean {
    return quantityNames.some((name) => this.#free[name] * 2 < this.#demand.target[name]);
  }

  #computeMissing(): Quantity {
    const missing = zeroQuantity();
    for (const name of quantityNames) missing[name] = Math.max(0, this.#demand.target[name] - this.#free[name]);
    return missing;
  }
}
