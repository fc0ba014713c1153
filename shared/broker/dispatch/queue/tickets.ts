import { randomUUID } from 'node:crypto';
import type { Broker } from '../../connection/connect-broker.ts';
import type { Tier } from '#shared/core/tier.ts';
import { encodeTicket } from '../../contract/ticket.ts';
import { openPlacements, placementsOf } from '../claims/placements.ts';
import type { Job } from '../job.ts';
import { freeSlots, type LivePool, type Placement } from '../workers/live-pool.ts';

/** Milliseconds after which a ticket that the broker has not stored is published again. */
const confirmMs = 2_000;

/** Publishes the tickets of waiting jobs. */
export class Tickets {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #spillMs: number;
  /** Token of the subject at which the broker answers. No worker knows it, so none can forge an answer. */
  readonly #secret = randomUUID();

  constructor(broker: Broker, ingress: string, spillMs: number) {
    this.#broker = broker;
    this.#ingress = ingress;
    this.#spillMs = spillMs;
  }

  /** Subject of the broker's answers to tickets. Its last two tokens are the job and the ticket's number. */
  get answers(): string {
    return this.#broker.subjects.allStored(this.#secret);
  }

  /** Publishes tickets for a queued job: into the first lane with a free slot, else into every lane that is open to it. */
  place(job: Job, placements = placementsOf(job)): void {
    job.foundWorkers(placements.length > 0);
    if (placements.length === 0) return;
    const { open, nextAt } = openPlacements(job, placements);
    const free = open.find(({ pool }) => freeSlots(pool) > 0);
    for (const placement of free ? [free] : open) this.#add(job, placement);
    this.#planSpill(job, open, nextAt);
  }

  /** Publishes a ticket into one more lane: the first with a free slot, else the first. */
  spill(job: Job): void {
    const { open, nextAt } = openPlacements(job, placementsOf(job));
    const further = open.filter(({ pool }) => !job.tickets.placed.has(pool));
    const next = further.find(({ pool }) => freeSlots(pool) > 0) ?? further[0];
    if (next) this.#add(job, next);
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

  /** Maintains a waiting job's tickets: places one in the next lane when it is due, and publishes those again that were not stored. */
  maintain(job: Job, now: number): void {
    if (now > job.tickets.spillAt) this.spill(job);
    for (const [pool, ticket] of job.tickets.placed) {
      if (ticket.answer !== 'stored' && now - ticket.publishedAt > confirmMs) this.#publish(job, pool);
    }
  }

  /** Publishes a job's tickets in a tier again, when the broker may have lost them. */
  publishAgain(job: Job, tier: Tier): void {
    for (const pool of job.tickets.placed.keys()) if (pool.tier === tier) this.#publish(job, pool);
  }

  #planSpill(job: Job, open: readonly Placement[], nextAt: number): void {
    const hasMore = open.some(({ pool }) => !job.tickets.placed.has(pool));
    job.tickets.spillsAt(hasMore ? performance.now() + this.#spillMs : nextAt);
  }

  #add(job: Job, { pool, model }: Placement): void {
    if (job.tickets.placed.has(pool)) return;
    job.tickets.place(pool, model);
    this.#publish(job, pool);
  }

  #publish(job: Job, pool: LivePool): void {
    const ticket = pool.contract === undefined ? undefined : job.tickets.publish(pool);
    if (!ticket || pool.contract === undefined) return;
    const { subjects } = this.#broker;
    const lane = { tier: pool.tier, pool: pool.pool, class: job.request.class };
    const body = encodeTicket({ v: pool.contract, ingress: this.#ingress, job: job.id });
    this.#broker.publish(subjects.jobs(lane), body, subjects.stored(this.#secret, job.id, ticket.number));
  }
}
