import { randomUUID } from 'node:crypto';
import { nextBeginning } from '../periods.ts';
import type { PartyLimits } from './limits.ts';
import { bucketUnit, readPartyUses, scriptParty, type Amount, type PartyUse } from './party-use.ts';
import { addTo, zeroQuantity, quantityNames, ShareDemand, type Quantity } from './share-demand.ts';

/** Milliseconds without a request after which a share is given back, and for which no more is requested of a limit that is near. */
const pauseMs = 1_000;

const reportMs = 100;

/** Times of a share, in milliseconds: how long it lasts in Redis, and how often it is renewed there. */
export interface ShareTimes {
  keepMs: number;
  renewEveryMs: number;
}

/** A report to Redis: the arguments of `lua/share.lua`. */
export type ShareReport = Readonly<Record<string, unknown>>;

/**
 * What one node has reserved beforehand for the requests of some parties, so that a request need not call Redis. Redis counts it as
 * reserved. What its requests have drawn, what is free, and what was spent since the last report are together never more than that. Reports
 * state what was spent and request more; one is under way at a time. While it is not certain that Redis has the share, nothing is drawn.
 * Times are those of `performance.now()`. See docs/decisions/0020-shares-of-limits.md.
 */
export class Share {
  readonly id = randomUUID();
  readonly #parties: readonly PartyLimits[];
  readonly #times: ShareTimes;
  readonly #demand: ShareDemand;
  #free = zeroQuantity();
  #drawn = zeroQuantity();
  #running = 0;
  // Since the last report.
  #begun = 0;
  #ended = 0;
  #spent = zeroQuantity();
  #uses: readonly PartyUse[] = [];
  #number = 0;
  #confirmed = 0;
  /** The report that was sent and not answered, and the number of requests that ended before it. */
  #report: ShareReport | undefined;
  #reported = 0;
  #hasFailed = false;
  /** Redis's time in its first reply, ms since 1970: the requests count in that day. */
  #beganAt: number | undefined;
  #dayEndsAt = Infinity;
  #usableUntil = 0;
  #nearUntil = 0;
  #askedAt: number;
  #reportedAt: number;

  constructor(parties: readonly PartyLimits[], times: ShareTimes, now: number) {
    this.#parties = parties;
    this.#times = times;
    this.#demand = new ShareDemand(now);
    this.#askedAt = now;
    this.#reportedAt = now;
  }

  get running(): number {
    return this.#running;
  }

  /** Finished requests that Redis has not counted yet. */
  get uncounted(): number {
    return this.#ended + this.#reported;
  }

  get confirmed(): number {
    return this.#confirmed;
  }

  /** Whether Redis may have the share. */
  get isStored(): boolean {
    return this.#number > 0;
  }

  /** Whether a report is under way, or has failed. */
  get isReporting(): boolean {
    return this.#report !== undefined;
  }

  /** Whether the share holds anything for requests to come. */
  get isHolding(): boolean {
    return quantityNames.some((name) => this.#free[name] > 0);
  }

  isOver(now: number): boolean {
    return now >= this.#dayEndsAt;
  }

  /** Returns whether the share is needed for nothing. */
  isIdle(now: number): boolean {
    const isUsed = this.#running > 0 || this.uncounted > 0 || this.isReporting || this.isHolding;
    return !isUsed && (now - this.#askedAt >= pauseMs || this.isOver(now));
  }

  /** Draws the most that a request may cost, if the share holds that much; returns whether it does. */
  draw(amount: Amount, now: number): boolean {
    if (!this.isStored) this.#demand.restart(now, pauseMs);
    this.#demand.note(amount);
    this.#askedAt = now;
    const { requests, tokens, cost } = this.#free;
    const isEnough =
      requests >= 1 && (amount.tokens === 0 || amount.tokens <= tokens) && (amount.cost === 0 || amount.cost <= cost);
    if (!isEnough || now >= this.#usableUntil) return false;
    addTo(this.#free, -1, { tokens: -amount.tokens, cost: -amount.cost });
    addTo(this.#drawn, 0, amount);
    this.#running++;
    this.#begun++;
    return true;
  }

  /** Replaces what a request has drawn by its actual use. */
  end(drawn: Amount, spent: Amount): void {
    addTo(this.#drawn, 0, { tokens: -drawn.tokens, cost: -drawn.cost });
    addTo(this.#free, 0, { tokens: drawn.tokens - spent.tokens, cost: drawn.cost - spent.cost });
    addTo(this.#spent, 0, spent);
    this.#running--;
    this.#ended++;
  }

  /**
   * Takes over Redis's reply to a request of these parties that called Redis, and returns the parties' use.
   * @param confirmed how many reports were confirmed before that call. A report that was confirmed since may have been counted before or
   * after the call: then the use is returned as it is, with what the share holds.
   */
  observe(uses: readonly PartyUse[], confirmed: number): readonly PartyUse[] {
    if (confirmed !== this.#confirmed) return uses;
    this.#uses = uses;
    return this.status();
  }

  /** Returns the use of the parties as far as it is known here. Redis counts what is free here as reserved; that is left out. */
  status(): PartyUse[] {
    const { requests, tokens, cost } = this.#free;
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
      active,
      day: correctPeriod(day),
      month: correctPeriod(month),
    }));
  }

  isDue(now: number): boolean {
    const sinceMs = now - this.#reportedAt;
    if (this.isReporting) return this.#hasFailed && sinceMs >= pauseMs;
    if (!this.isStored) return this.#demand.isBusy && now >= this.#nearUntil;
    if ((this.#ended > 0 && sinceMs >= reportMs) || sinceMs >= this.#times.renewEveryMs) return true;
    if (sinceMs >= pauseMs && (this.#begun > 0 || this.#usableUntil === 0)) return true;
    if (this.#isLeaving(now) && this.isHolding) return true;
    return (
      now >= this.#nearUntil && this.#isLow() && (this.#demand.isSlow ? this.#demand.isBusy : this.#demand.hasDemand)
    );
  }

  /**
   * Returns the report to send: the last one once more if it was not answered.
   * @param givesBack whether to keep nothing for requests to come
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
      more: leaves || !this.#isLow() ? undefined : this.#missing(),
      least: { ...this.#demand.mean },
      parties: this.#parties.map(scriptParty),
    };
    this.#reported = this.#ended;
    this.#begun = 0;
    this.#ended = 0;
    this.#spent = zeroQuantity();
    return this.#report;
  }

  confirm(
    now: number,
    [isKept, isFar, requests = 0, tokens = 0, cost = 0, at = 0, ...numbers]: readonly number[],
  ): void {
    this.#report = undefined;
    this.#confirmed++;
    this.#reported = 0;
    this.#uses = readPartyUses(this.#parties, [at, ...numbers]);
    if (isKept !== 1) this.#free = zeroQuantity();
    addTo(this.#free, requests, { tokens, cost });
    if (isFar !== 1) this.#nearUntil = now + pauseMs;
    this.#beganAt ??= at;
    // The time since the report was sent is at least as long as the time since Redis answered it.
    this.#dayEndsAt = this.#reportedAt + nextBeginning('day', this.#beganAt) - at;
    this.#usableUntil = Math.min(this.#reportedAt + this.#times.keepMs * 0.75, this.#dayEndsAt);
  }

  /** Notes that it is not known whether Redis has processed the report: it is sent again. */
  fail(): void {
    this.#hasFailed = true;
    this.suspend();
  }

  /** Draws nothing until Redis has answered a report: the connection may lead to another Redis now. */
  suspend(): void {
    this.#usableUntil = 0;
  }

  #isLeaving(now: number): boolean {
    return now < this.#nearUntil || now - this.#askedAt >= pauseMs || this.isOver(now) || this.#demand.isSlow;
  }

  #isLow(): boolean {
    return quantityNames.some((name) => this.#free[name] * 2 < this.#demand.target[name]);
  }

  #missing(): Quantity {
    const missing = zeroQuantity();
    for (const name of quantityNames) missing[name] = Math.max(0, this.#demand.target[name] - this.#free[name]);
    return missing;
  }
}
