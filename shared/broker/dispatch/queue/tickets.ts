import { randomUUID } from 'node:crypto';
import type { Broker } from '../../connection/connect-broker.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { encodeTicket } from '../../contract/ticket.ts';
import { openPlacements, placementsOf } from '../claims/placements.ts';
import type { Job } from '../job.ts';
import { countFreeSlots, type LivePool, type Placement } from '../workers/live-pool.ts';
import type { PlacedTicket } from './job-tickets.ts';
import type { StoredTicketRange, QueueSettings } from './jobs-stream.ts';
import { FairLane } from './fair-lane.ts';
import { WaitingJobs } from './waiting-jobs.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';

/** Milliseconds after which a ticket that the broker has not stored is published again. */
const confirmMs = 2_000;

/** Milliseconds after which an unclaimed ticket may be lost if its pool has free slots, even if other tickets are claimed. */
const overdueMs = 1_000;

export interface TicketsOptions {
  /** The name of this dispatching process, as a subject token. */
  ingress: string;
  settings: QueueSettings;
  /** Milliseconds after which an unclaimed ticket overflows into the next lane. */
  overflowMs: number;
  /** Offers a job that waits in a stalled lane. Returns false if no worker is known to wait for a job. */
  offer: (job: Job) => boolean;
  /** Sends a job's ticket straight to a worker, once a second at most. */
  handOver: (job: Job) => void;
  /** Called if the queues of all tiers that may serve the job are full, or if the job would wait longer than it may. */
  onFull: (job: Job) => void;
}

/** The number of lanes in which a job first waits if none has a free slot. */
const firstLanes = 8;
/**
 * Maximum lanes in which a job waits; beyond it, the job waits only in further lanes with a free slot. A job in hundreds of lanes would
 * cost hundreds of tickets, of which one is claimed.
 */
const maxLanes = 16;

/**
 * Returns the first `count` placements. Of equally good ones, those come first whose pools have the fewest waiting requests for each
 * worker, so that jobs spread over many pools.
 */
function leastBusy(placements: readonly Placement[], count: number): readonly Placement[] {
  if (placements.length <= count) return placements;
  const load = ({ pool }: Placement): number => pool.waiting / Math.max(1, pool.workers.size);
  const order = placements.map((placement, at) => ({ placement, at, load: load(placement) }));
  const groupOf = new Map<number | undefined, number>();
  for (const { placement, at } of order) {
    const { group } = placement;
    if (group !== undefined && !groupOf.has(group)) groupOf.set(group, at);
  }
  // Placements without a group keep their position.
  const rankOf = ({ placement: { group }, at }: (typeof order)[number]): number =>
    group === undefined ? at : (groupOf.get(group) ?? at);
  const sorted = order.toSorted((a, b) => rankOf(a) - rankOf(b) || a.load - b.load || a.at - b.at);
  return sorted.slice(0, count).map(({ placement }) => placement);
}

function isOverdue(pool: LivePool, { waitingSince }: Pick<PlacedTicket, 'waitingSince'>, now: number): boolean {
  return waitingSince !== undefined && now - waitingSince > overdueMs && countFreeSlots(pool) > -pool.waiting;
}

export class Tickets {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #overflowMs: number;
  /** A token of the subject at which the broker answers. No worker knows it, so none can forge an answer. */
  readonly #secret = randomUUID();
  readonly #waiting = new Map<Tier, WaitingJobs>(tiers.map((tier) => [tier, new WaitingJobs()]));
  readonly #maxQueued: number;
  readonly #onFull: (job: Job) => void;
  readonly #offer: TicketsOptions['offer'];
  readonly #handOver: TicketsOptions['handOver'];
  readonly #lanes = new WeakMap<LivePool, Map<PriorityClass, FairLane<Job>>>();

  constructor(broker: Broker, { ingress, overflowMs, settings, offer, handOver, onFull }: TicketsOptions) {
    this.#maxQueued = settings.maxQueued;
    this.#onFull = onFull;
    this.#offer = offer;
    this.#handOver = handOver;
    this.#broker = broker;
    this.#ingress = ingress;
    this.#overflowMs = overflowMs;
  }

  /** The subject of the broker's answers to tickets. Its last two tokens are the job and the ticket's number. */
  get answers(): string {
    return this.#broker.subjects.allStored(this.#secret);
  }

  /** Publishes tickets for a queued job: into the first lane with a free slot, otherwise into the first few lanes that are open to it. */
  place(job: Job, placements = placementsOf(job)): void {
    job.recordWorkerSearch(placements.length > 0);
    if (placements.length === 0) return;
    const { open, nextAt } = openPlacements(job, placements);
    const free = open.find(({ pool, model }) => countFreeSlots(pool, model) > 0);
    const isNew = !job.tickets.isAdmitted && job.attempts === 0;
    if (isNew && !free && (this.#areFull(job, open) || this.#isTooLong(job, placements))) return this.#onFull(job);
    if (free) this.#add(job, free, true);
    else for (const placement of leastBusy(open, firstLanes)) this.#add(job, placement, false);
    this.#planOverflow(job, open, nextAt);
  }

  /**
   * Publishes a ticket into one more lane: the first with a free slot, otherwise the next lane, while the job waits in fewer than
   * `maxLanes`.
   */
  overflow(job: Job): void {
    const { open, nextAt } = openPlacements(job, placementsOf(job));
    const { placed } = job.tickets;
    const further = open.filter(({ pool }) => !placed.has(pool));
    const free = further.find(({ pool, model }) => countFreeSlots(pool, model) > 0);
    const [next] = free || placed.size >= maxLanes ? [free] : leastBusy(further, 1);
    if (next) this.#add(job, next, next === free);
    this.#planOverflow(job, open, nextAt);
  }

  /** Updates the tickets of a waiting job after workers came, left or changed. */
  review(job: Job): void {
    const { tickets } = job;
    for (const pool of tickets.placed.keys()) if (pool.workers.size === 0) tickets.withdraw(pool);
    if (tickets.placed.size === 0) return this.place(job);
    job.recordWorkerSearch(placementsOf(job).length > 0);
    tickets.overflowsAt(Math.min(tickets.overflowAt, performance.now() + this.#overflowMs));
  }

  /**
   * Maintains a waiting job's tickets: lets one overflow into the next lane when it is due, and publishes tickets again that were not
   * stored. JetStream may have no leader, or may have lost a ticket. Therefore, if a lane has stalled, its jobs with tickets are offered,
   * and an overdue ticket is sent straight to a worker. Each job that leaves makes the next one publish its ticket.
   */
  maintain(job: Job, now: number): void {
    if (now > job.tickets.overflowAt) this.overflow(job);
    for (const [pool, ticket] of job.tickets.placed) {
      const lane = this.getLane(pool, job.request.class);
      if (ticket.place.isHeld) {
        lane.maintain(now, () => countFreeSlots(pool) + pool.waiting);
        continue;
      }
      if (lane.standsStill(now) && this.#offer(job)) return;
      if (isOverdue(pool, ticket, now)) this.#handOver(job);
      if (ticket.answer !== 'stored' && now - ticket.publishedAt > confirmMs) this.#publish(job, pool);
    }
  }

  /** Publishes those tickets of a job again that the broker had stored before `askedAt` and does not have any more. */
  publishLost(job: Job, tier: Tier, { firstSeq, lastSeq, askedAt }: StoredTicketRange): void {
    for (const [pool, { answer, seq, publishedAt }] of job.tickets.placed) {
      if (pool.tier !== tier || answer !== 'stored' || seq === undefined || publishedAt >= askedAt) continue;
      if (seq < firstSeq || seq > lastSeq) this.#publish(job, pool);
    }
  }

  /** Publishes a job's tickets in a tier again, because the broker may have lost them. */
  publishAgain(job: Job, tier: Tier): void {
    for (const [pool, { place }] of job.tickets.placed) {
      if (pool.tier !== tier) continue;
      this.getLane(pool, job.request.class).clearSpareTickets();
      if (!place.isHeld) this.#publish(job, pool);
    }
  }

  /** Estimates the milliseconds until a waiting job is claimed in the fastest of its lanes; undefined while it has no lane. */
  expectedWaitMs(job: Job, now: number, placements = openPlacements(job, placementsOf(job)).open): number | undefined {
    const waits = placements.map(({ pool }) => this.getLane(pool, job.request.class).expectedWaitMs(job, now));
    return waits.length > 0 ? Math.min(...waits) : undefined;
  }

  /** Whether a job would wait longer than it may, even with the lanes that open to it later. */
  #isTooLong(job: Job, placements: readonly Placement[]): boolean {
    const { maxWaitMs } = job.request;
    if (maxWaitMs === undefined) return false;
    const waitMs = this.expectedWaitMs(job, performance.now(), placements);
    return waitMs !== undefined && waitMs > maxWaitMs;
  }

  #planOverflow(job: Job, open: readonly Placement[], nextAt: number): void {
    const hasMore = open.some(({ pool }) => !job.tickets.placed.has(pool));
    job.tickets.overflowsAt(hasMore ? performance.now() + this.#overflowMs : nextAt);
  }

  /** Returns the lane of a pool and class, and creates it if there is none. */
  getLane(pool: LivePool, priority: PriorityClass): FairLane<Job> {
    const lanes = this.#lanes.get(pool) ?? new Map<PriorityClass, FairLane<Job>>();
    const lane =
      lanes.get(priority) ??
      new FairLane<Job>({
        publish: (job) => this.#publish(job, pool),
        onLeave: (job) => this.#waiting.get(pool.tier)?.count(job, -1),
      });
    this.#lanes.set(pool, lanes.set(priority, lane));
    return lane;
  }

  #areFull(job: Job, placements: readonly Placement[]): boolean {
    return placements.every(({ pool }) => this.#waiting.get(pool.tier)?.areFull(job, this.#maxQueued));
  }

  /** Adds a ticket. A job that a worker had or refused before gets its ticket ahead of jobs without one. */
  #add(job: Job, placement: Placement, isFree: boolean): void {
    const { pool } = placement;
    if (job.tickets.placed.has(pool)) return;
    const lane = this.getLane(pool, job.request.class);
    const place = lane.add(job, isFree || job.attempts + job.refusals > 0);
    this.#waiting.get(pool.tier)?.count(job, 1);
    job.tickets.place(placement, place, (leavesTicket) => lane.remove(place, leavesTicket));
    if (!place.isHeld) this.#publish(job, pool);
  }

  #publish(job: Job, pool: LivePool): void {
    const isGone = pool.contract === undefined || pool.workers.size === 0;
    const ticket = isGone ? undefined : job.tickets.recordPublished(pool);
    if (!ticket || pool.contract === undefined) return;
    const { subjects } = this.#broker;
    const lane = { tier: pool.tier, pool: pool.pool, class: job.request.class };
    const body = encodeTicket({ v: pool.contract, ingress: this.#ingress, job: job.id });
    this.#broker.publish(subjects.jobs(lane), body, subjects.stored(this.#secret, job.id, ticket.number));
  }
}
