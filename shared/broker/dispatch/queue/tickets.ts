import { randomUUID } from 'node:crypto';
import type { Broker } from '../../connection/connect-broker.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { encodeTicket } from '../../contract/ticket.ts';
import { openPlacements, placementsOf } from '../claims/placements.ts';
import type { Job } from '../job.ts';
import { freeSlots, type LivePool, type Placement } from '../workers/live-pool.ts';
import type { PlacedTicket } from './job-tickets.ts';
import type { HeldTickets, QueueSettings } from './jobs-stream.ts';
import { FairLane } from './fair-lane.ts';
import { WaitingJobs } from './waiting-jobs.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';

/** Milliseconds after which a ticket that the broker has not stored is published again. */
const confirmMs = 2_000;

/** Milliseconds after which a ticket that nobody has claimed may be lost, if its pool has free slots, although others are claimed. */
const overdueMs = 1_000;

export interface TicketsOptions {
  /** This ingress, as a subject token. */
  ingress: string;
  settings: QueueSettings;
  /** Milliseconds after which an unclaimed ticket goes to the next lane too. */
  spillMs: number;
  /** Offers a job that waits in a lane that stands still. Returns whether a worker is known to wait for one. */
  offer: (job: Job) => boolean;
  /** Sends a job's ticket straight to a worker, once a second at most. */
  handOver: (job: Job) => void;
  /** Called when as many jobs wait in all tiers of a job as may, or so many that it would wait for longer than it may. */
  onFull: (job: Job) => void;
}

/**
 * Lanes that a job waits in at first while none has a free slot, and at most: beyond these it waits only for a lane with a free slot. A
 * job in each of hundreds of lanes costs as many tickets, and one of them is claimed.
 */
const firstLanes = 8;
const maxLanes = 16;

/**
 * The first so many placements; of equally good ones, those in whose pools the fewest requests wait for each worker, so that jobs spread
 * over many pools.
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
  // Those without a group stand where they stood.
  const rankOf = ({ placement: { group }, at }: (typeof order)[number]): number =>
    group === undefined ? at : (groupOf.get(group) ?? at);
  const sorted = order.toSorted((a, b) => rankOf(a) - rankOf(b) || a.load - b.load || a.at - b.at);
  return sorted.slice(0, count).map(({ placement }) => placement);
}

/** Whether a ticket waits although its pool has free slots. */
function isOverdue(pool: LivePool, { waitingSince }: Pick<PlacedTicket, 'waitingSince'>, now: number): boolean {
  return waitingSince !== undefined && now - waitingSince > overdueMs && freeSlots(pool) > -pool.waiting;
}

/** Publishes the tickets of waiting jobs. */
export class Tickets {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #spillMs: number;
  /** Token of the subject at which the broker answers. No worker knows it, so none can forge an answer. */
  readonly #secret = randomUUID();
  readonly #waiting = new Map<Tier, WaitingJobs>(tiers.map((tier) => [tier, new WaitingJobs()]));
  readonly #maxQueued: number;
  readonly #onFull: (job: Job) => void;
  readonly #offer: TicketsOptions['offer'];
  readonly #handOver: TicketsOptions['handOver'];
  readonly #lanes = new WeakMap<LivePool, Map<PriorityClass, FairLane<Job>>>();

  constructor(broker: Broker, { ingress, spillMs, settings, offer, handOver, onFull }: TicketsOptions) {
    this.#maxQueued = settings.maxQueued;
    this.#onFull = onFull;
    this.#offer = offer;
    this.#handOver = handOver;
    this.#broker = broker;
    this.#ingress = ingress;
    this.#spillMs = spillMs;
  }

  /** Subject of the broker's answers to tickets. Its last two tokens are the job and the ticket's number. */
  get answers(): string {
    return this.#broker.subjects.allStored(this.#secret);
  }

  /** Publishes tickets for a queued job: into the first lane with a free slot, else into the first few that are open to it. */
  place(job: Job, placements = placementsOf(job)): void {
    job.foundWorkers(placements.length > 0);
    if (placements.length === 0) return;
    const { open, nextAt } = openPlacements(job, placements);
    const free = open.find(({ pool, model }) => freeSlots(pool, model) > 0);
    const isNew = !job.tickets.isAdmitted && job.attempts === 0;
    if (isNew && !free && (this.#areFull(job, open) || this.#isTooLong(job, placements))) return this.#onFull(job);
    if (free) this.#add(job, free, true);
    else for (const placement of leastBusy(open, firstLanes)) this.#add(job, placement, false);
    this.#planSpill(job, open, nextAt);
  }

  /** Publishes a ticket into one more lane: the first with a free slot, else the first, as long as the job waits in few. */
  spill(job: Job): void {
    const { open, nextAt } = openPlacements(job, placementsOf(job));
    const { placed } = job.tickets;
    const further = open.filter(({ pool }) => !placed.has(pool));
    const free = further.find(({ pool, model }) => freeSlots(pool, model) > 0);
    const [next] = free || placed.size >= maxLanes ? [free] : leastBusy(further, 1);
    if (next) this.#add(job, next, next === free);
    this.#planSpill(job, open, nextAt);
  }

  /** Looks again at a job that waits, after workers came, went or changed. */
  replace(job: Job): void {
    const { tickets } = job;
    for (const pool of tickets.placed.keys()) if (pool.workers.size === 0) tickets.withdraw(pool);
    if (tickets.placed.size === 0) return this.place(job);
    job.foundWorkers(placementsOf(job).length > 0);
    tickets.spillsAt(Math.min(tickets.spillAt, performance.now() + this.#spillMs));
  }

  /**
   * Maintains a waiting job's tickets: places one in the next lane when it is due, and publishes those again that were not stored.
   * JetStream may have no leader, or may have lost a ticket: where a lane stands still, the jobs with tickets are offered, and a
   * ticket that is overdue is sent straight to a worker. Each job that leaves makes the next one publish its own.
   */
  maintain(job: Job, now: number): void {
    if (now > job.tickets.spillAt) this.spill(job);
    for (const [pool, ticket] of job.tickets.placed) {
      const lane = this.laneOf(pool, job.request.class);
      if (ticket.place.isHeld) {
        lane.maintain(now, () => freeSlots(pool) + pool.waiting);
        continue;
      }
      if (lane.standsStill(now) && this.#offer(job)) return;
      if (isOverdue(pool, ticket, now)) this.#handOver(job);
      if (ticket.answer !== 'stored' && now - ticket.publishedAt > confirmMs) this.#publish(job, pool);
    }
  }

  /** Publishes those of a job's tickets again that the broker had stored before a time, and has not any more. */
  publishLost(job: Job, tier: Tier, { firstSeq, lastSeq, askedAt }: HeldTickets): void {
    for (const [pool, { answer, seq, publishedAt }] of job.tickets.placed) {
      if (pool.tier !== tier || answer !== 'stored' || seq === undefined || publishedAt >= askedAt) continue;
      if (seq < firstSeq || seq > lastSeq) this.#publish(job, pool);
    }
  }

  /** Publishes a job's tickets in a tier again, when the broker may have lost them. */
  publishAgain(job: Job, tier: Tier): void {
    for (const [pool, { place }] of job.tickets.placed) {
      if (pool.tier !== tier) continue;
      this.laneOf(pool, job.request.class).forgetSpare();
      if (!place.isHeld) this.#publish(job, pool);
    }
  }

  /** Milliseconds until a job that waits is claimed, in the fastest of its lanes; undefined while it has no lane. */
  expectedWaitMs(job: Job, now: number, placements = openPlacements(job, placementsOf(job)).open): number | undefined {
    const waits = placements.map(({ pool }) => this.laneOf(pool, job.request.class).expectedWaitMs(job, now));
    return waits.length > 0 ? Math.min(...waits) : undefined;
  }

  /** Whether a job would wait for longer than it may, in those lanes too that open to it later. */
  #isTooLong(job: Job, placements: readonly Placement[]): boolean {
    const { maxWaitMs } = job.request;
    if (maxWaitMs === undefined) return false;
    const waitMs = this.expectedWaitMs(job, performance.now(), placements);
    return waitMs !== undefined && waitMs > maxWaitMs;
  }

  #planSpill(job: Job, open: readonly Placement[], nextAt: number): void {
    const hasMore = open.some(({ pool }) => !job.tickets.placed.has(pool));
    job.tickets.spillsAt(hasMore ? performance.now() + this.#spillMs : nextAt);
  }

  /** The lane of a pool that the jobs of a class wait in. */
  laneOf(pool: LivePool, priority: PriorityClass): FairLane<Job> {
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

  /** A job that a worker had or has refused is not put behind those that wait. */
  #add(job: Job, placement: Placement, isFree: boolean): void {
    const { pool } = placement;
    if (job.tickets.placed.has(pool)) return;
    const lane = this.laneOf(pool, job.request.class);
    const place = lane.enter(job, isFree || job.attempts + job.refusals > 0);
    this.#waiting.get(pool.tier)?.count(job, 1);
    job.tickets.place(placement, place, (leavesTicket) => lane.leave(place, leavesTicket));
    if (!place.isHeld) this.#publish(job, pool);
  }

  #publish(job: Job, pool: LivePool): void {
    const isGone = pool.contract === undefined || pool.workers.size === 0;
    const ticket = isGone ? undefined : job.tickets.publish(pool);
    if (!ticket || pool.contract === undefined) return;
    const { subjects } = this.#broker;
    const lane = { tier: pool.tier, pool: pool.pool, class: job.request.class };
    const body = encodeTicket({ v: pool.contract, ingress: this.#ingress, job: job.id });
    this.#broker.publish(subjects.jobs(lane), body, subjects.stored(this.#secret, job.id, ticket.number));
  }
}
