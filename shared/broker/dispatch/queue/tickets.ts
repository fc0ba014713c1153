import { randomUUID } from 'node:crypto';
import type { Broker } from '../../connection/connect-broker.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { encodeTicket } from '../../contract/ticket.ts';
import { findOpenPlacements, rankPlacements } from '../claims/placements.ts';
import type { DispatchContext, DispatchSettings } from '../dispatch-context.ts';
import type { Job } from '../job.ts';
import { countFreeSlots, type Placement } from '../workers/live-pool.ts';
import type { LivePool } from '../workers/live-worker.ts';
import type { PlacedTicket } from './job-tickets.ts';
import type { StoredTicketRange } from './jobs-stream.ts';
import { FairLane } from './fair-lane.ts';
import { WaitingJobs } from './waiting-jobs.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';

/** Milliseconds after which a ticket that the broker has not stored is published again. */
const confirmMs = 2_000;

/** Milliseconds after which a published ticket counts as overdue if it is not claimed although its pool has free slots. It may be lost. */
const overdueMs = 1_000;

/** The number of lanes into which a job's tickets are published at first, if no pool has a free slot. */
const firstLanes = 8;
/**
 * Maximum lanes in which a job waits without a free slot. In more lanes, it gets tickets only if the lane's pool has a free slot. A job in
 * hundreds of lanes would cost hundreds of tickets, and only one of them is claimed.
 */
const maxLanes = 16;

/**
 * Returns the first `count` placements. Among equally good placements, pools with fewer waiting tickets per worker come first, so that jobs
 * spread over many pools.
 */
function chooseLeastBusy(placements: readonly Placement[], count: number): readonly Placement[] {
  if (placements.length <= count) return placements;
  const computeLoad = ({ pool }: Placement): number => pool.waiting / Math.max(1, pool.workers.size);
  const order = placements.map((placement, index) => ({ placement, index, load: computeLoad(placement) }));
  const groupIndexes = new Map<number | undefined, number>();
  for (const { placement, index } of order) {
    const { group } = placement;
    if (group !== undefined && !groupIndexes.has(group)) groupIndexes.set(group, index);
  }
  // Placements without a group keep their position.
  const findRank = ({ placement: { group }, index }: (typeof order)[number]): number =>
    group === undefined ? index : (groupIndexes.get(group) ?? index);
  const sorted = order.toSorted((a, b) => findRank(a) - findRank(b) || a.load - b.load || a.index - b.index);
  return sorted.slice(0, count).map(({ placement }) => placement);
}

function isOverdue(pool: LivePool, { waitingSince }: Pick<PlacedTicket, 'waitingSince'>, now: number): boolean {
  return waitingSince !== undefined && now - waitingSince > overdueMs && countFreeSlots(pool) > -pool.waiting;
}

/** Publishes and maintains the tickets of the jobs of one dispatcher. */
export class Tickets {
  readonly #broker: Broker;
  readonly #settings: DispatchSettings;
  /** A token of the subject at which the broker answers. No worker knows it, so none can forge an answer. */
  readonly #secret = randomUUID();
  readonly #waitingByTier = new Map<Tier, WaitingJobs>(tiers.map((tier) => [tier, new WaitingJobs()]));
  readonly #onFull: (job: Job) => void;
  readonly #offer: (job: Job) => boolean;
  readonly #handOver: (job: Job) => void;
  readonly #lanes = new WeakMap<LivePool, Map<PriorityClass, FairLane<Job>>>();

  /**
   * @param offer called with a job in a lane that stands still. Offers the job; returns false if no worker is known to wait for a job
   * @param handOver sends a job's ticket straight to a worker, at most once a second
   * @param onFull called if the queues of all tiers that may serve a job are full, or if the job would wait longer than it may
   */
  constructor(
    { broker, settings }: Pick<DispatchContext, 'broker' | 'settings'>,
    offer: (job: Job) => boolean,
    handOver: (job: Job) => void,
    onFull: (job: Job) => void,
  ) {
    this.#broker = broker;
    this.#settings = settings;
    this.#offer = offer;
    this.#handOver = handOver;
    this.#onFull = onFull;
  }

  /** The subjects at which the broker answers published tickets. Their last two tokens are the job and the ticket's number. */
  get answerSubjects(): string {
    return this.#broker.subjects.allTicketAnswers(this.#secret);
  }

  /**
   * Publishes tickets for a queued job: into the first lane whose pool has a free slot, otherwise into the first few lanes open to the job.
   */
  place(job: Job, placements = rankPlacements(job)): void {
    job.recordWorkerSearch(placements.length > 0);
    if (placements.length === 0) return;
    const { open, nextAt } = findOpenPlacements(job, placements);
    const withFreeSlot = open.find(({ pool, model }) => countFreeSlots(pool, model) > 0);
    const isNew = !job.tickets.isAdmitted && job.attempts === 0;
    if (isNew && !withFreeSlot && (this.#areTiersFull(job, open) || this.#isWaitTooLong(job, placements)))
      return this.#onFull(job);
    if (withFreeSlot) this.#addTicket(job, withFreeSlot, true);
    else for (const placement of chooseLeastBusy(open, firstLanes)) this.#addTicket(job, placement, false);
    this.#planOverflow(job, open, nextAt);
  }

  /**
   * Publishes a ticket into one more lane: the first further lane whose pool has a free slot, or else the next lane. Without a free slot,
   * does nothing if the job waits in `maxLanes` lanes already.
   */
  overflow(job: Job): void {
    const { open, nextAt } = findOpenPlacements(job, rankPlacements(job));
    const { placed } = job.tickets;
    const furtherPlacements = open.filter(({ pool }) => !placed.has(pool));
    const withFreeSlot = furtherPlacements.find(({ pool, model }) => countFreeSlots(pool, model) > 0);
    const [next] = withFreeSlot || placed.size >= maxLanes ? [withFreeSlot] : chooseLeastBusy(furtherPlacements, 1);
    if (next) this.#addTicket(job, next, next === withFreeSlot);
    this.#planOverflow(job, open, nextAt);
  }

  /** Updates the tickets of a waiting job. Call it after workers came, left or changed. */
  review(job: Job): void {
    const { tickets } = job;
    for (const pool of tickets.placed.keys()) if (pool.workers.size === 0) tickets.withdraw(pool);
    if (tickets.placed.size === 0) return this.place(job);
    job.recordWorkerSearch(rankPlacements(job).length > 0);
    tickets.setOverflowAt(Math.min(tickets.overflowAt, performance.now() + this.#settings.overflowMs));
  }

  /**
   * Maintains a waiting job's tickets: lets a ticket overflow into the next lane when that is due, and publishes tickets again that were
   * not stored. JetStream may have no leader, or may have lost a ticket. So if a lane stands still, its jobs with tickets are offered, and
   * an overdue ticket is sent straight to a worker.
   */
  maintain(job: Job, now: number): void {
    if (now > job.tickets.overflowAt) this.overflow(job);
    for (const [pool, ticket] of job.tickets.placed) {
      const lane = this.getLane(pool, job.request.class);
      if (ticket.place.isHeld) {
        lane.maintain(now, () => countFreeSlots(pool) + pool.waiting);
        continue;
      }
      if (lane.hasStalled(now) && this.#offer(job)) return;
      if (isOverdue(pool, ticket, now)) this.#handOver(job);
      if (ticket.answer !== 'stored' && now - ticket.publishedAt > confirmMs) this.#publish(job, pool);
    }
  }

  /**
   * Publishes a job's lost tickets again. A ticket is lost if the broker had stored it before the range was requested, and the range does
   * not contain it.
   */
  publishLost(job: Job, tier: Tier, { firstSeq, lastSeq, requestedAt }: StoredTicketRange): void {
    for (const [pool, { answer, seq, publishedAt }] of job.tickets.placed) {
      if (pool.tier !== tier || answer !== 'stored' || seq === undefined || publishedAt >= requestedAt) continue;
      if (seq < firstSeq || seq > lastSeq) this.#publish(job, pool);
    }
  }

  /** Publishes all tickets of a job in a tier again, because the broker may have lost them. */
  publishAgain(job: Job, tier: Tier): void {
    for (const [pool, { place }] of job.tickets.placed) {
      if (pool.tier !== tier) continue;
      this.getLane(pool, job.request.class).clearSpareTickets();
      if (!place.isHeld) this.#publish(job, pool);
    }
  }

  /** Estimates the milliseconds until a waiting job is claimed in the fastest of its lanes; undefined if it has no lane. */
  estimateWaitMs(
    job: Job,
    now: number,
    placements = findOpenPlacements(job, rankPlacements(job)).open,
  ): number | undefined {
    const waits = placements.map(({ pool }) => this.getLane(pool, job.request.class).estimateWaitMs(job, now));
    return waits.length > 0 ? Math.min(...waits) : undefined;
  }

  /** Whether a job would wait longer than it may, even if it also waited in the lanes that are not open to it yet. */
  #isWaitTooLong(job: Job, placements: readonly Placement[]): boolean {
    const { maxWaitMs } = job.request;
    if (maxWaitMs === undefined) return false;
    const waitMs = this.estimateWaitMs(job, performance.now(), placements);
    return waitMs !== undefined && waitMs > maxWaitMs;
  }

  /** Sets when a ticket overflows into one of the open placements, or else into the placement that opens at `nextAt`. */
  #planOverflow(job: Job, open: readonly Placement[], nextAt: number): void {
    const hasMore = open.some(({ pool }) => !job.tickets.placed.has(pool));
    job.tickets.setOverflowAt(hasMore ? performance.now() + this.#settings.overflowMs : nextAt);
  }

  /** Returns the lane of a pool and class, and creates the lane if there is none. */
  getLane(pool: LivePool, priority: PriorityClass): FairLane<Job> {
    const lanes = this.#lanes.get(pool) ?? new Map<PriorityClass, FairLane<Job>>();
    const lane =
      lanes.get(priority) ??
      new FairLane<Job>(
        (job) => this.#publish(job, pool),
        (job) => this.#waitingByTier.get(pool.tier)?.count(job, -1),
      );
    this.#lanes.set(pool, lanes.set(priority, lane));
    return lane;
  }

  #areTiersFull(job: Job, placements: readonly Placement[]): boolean {
    return placements.every(({ pool }) =>
      this.#waitingByTier.get(pool.tier)?.hasNoRoom(job, this.#settings.queue.maxQueued),
    );
  }

  /** Adds a ticket. The ticket is published at once if the pool has a free slot, or if a worker has had the job before or refused it. */
  #addTicket(job: Job, placement: Placement, hasFreeSlot: boolean): void {
    const { pool } = placement;
    if (job.tickets.placed.has(pool)) return;
    const lane = this.getLane(pool, job.request.class);
    const place = lane.add(job, hasFreeSlot || job.attempts + job.refusals > 0);
    this.#waitingByTier.get(pool.tier)?.count(job, 1);
    job.tickets.addTicket(placement, place, (leavesTicket) => lane.remove(place, leavesTicket));
    if (!place.isHeld) this.#publish(job, pool);
  }

  #publish(job: Job, pool: LivePool): void {
    const isGone = pool.contract === undefined || pool.workers.size === 0;
    const ticket = isGone ? undefined : job.tickets.recordPublished(pool);
    if (!ticket || pool.contract === undefined) return;
    const { subjects } = this.#broker;
    const lane = { tier: pool.tier, pool: pool.pool, class: job.request.class };
    const body = encodeTicket({ v: pool.contract, ingress: this.#settings.ingress, job: job.id });
    this.#broker.publish(subjects.jobs(lane), body, subjects.ticketAnswer(this.#secret, job.id, ticket.number));
  }
}
