import { randomUUID } from 'node:crypto';
import type { Broker } from '../../connection/connect-broker.ts';
import type { Tier } from '../../contract/lane.ts';
import { encodeTicket } from '../../contract/ticket.ts';
import type { Job, Placement } from '../job.ts';
import { freeSlots, type LivePool } from '../workers/live-pool.ts';
import { openPlacements, placementsOf } from '../placements.ts';

/** Milliseconds after which a ticket that the broker has not taken is published again. */
const confirmMs = 2_000;

/** Publishes the tickets of waiting jobs, and keeps count of how many wait in each pool. */
export class Tickets {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #spillMs: number;
  /** Where the broker answers. No worker knows it, so none can say that a ticket was refused. */
  readonly #secret = randomUUID();

  constructor(broker: Broker, ingress: string, spillMs: number) {
    this.#broker = broker;
    this.#ingress = ingress;
    this.#spillMs = spillMs;
  }

  /** Subject of the broker's answers to tickets; its last two tokens are the job and the ticket's number. */
  get answers(): string {
    return this.#broker.subjects.allStored(this.#secret);
  }

  /** Publishes tickets for a queued job: into the first lane with a free slot, else into every lane that is open to it. */
  place(job: Job, placements = placementsOf(job)): void {
    noteWorkers(job, placements);
    if (placements.length === 0) return;
    const { open, nextAt } = openPlacements(job, placements);
    const free = open.find(({ pool }) => freeSlots(pool) > 0);
    for (const placement of free ? [free] : open) this.#add(job, placement);
    this.#planSpill(job, open, nextAt);
  }

  /** Publishes a ticket into one more lane: the first with a free slot, else the first. */
  spill(job: Job): void {
    const { open, nextAt } = openPlacements(job, placementsOf(job));
    const further = open.filter(({ pool }) => !job.placed.has(pool));
    const next = further.find(({ pool }) => freeSlots(pool) > 0) ?? further[0];
    if (next) this.#add(job, next);
    this.#planSpill(job, open, nextAt);
  }

  /** Looks again at a job that waits, after workers came, went or changed. */
  replace(job: Job): void {
    for (const pool of job.placed.keys()) if (pool.workers.size === 0) this.withdraw(job, pool);
    if (job.placed.size === 0) {
      this.place(job);
      return;
    }
    noteWorkers(job, placementsOf(job));
    job.spillAt = Math.min(job.spillAt, performance.now() + this.#spillMs);
  }

  /** What a waiting job needs from time to time: the next lane, and tickets that the broker has not taken once more. */
  attend(job: Job, now: number): void {
    if (now > job.spillAt) this.spill(job);
    for (const [pool, ticket] of job.placed) {
      if (ticket.answer !== 'stored' && now - ticket.publishedAt > confirmMs) this.#publish(job, pool);
    }
  }

  /** Publishes a job's tickets in a tier once more, when the broker may have forgotten them. */
  publishAgain(job: Job, tier: Tier): void {
    for (const pool of job.placed.keys()) if (pool.tier === tier) this.#publish(job, pool);
  }

  /** Takes the broker's answer to a ticket. @returns whether all tickets of a job that was never admitted are refused */
  onAnswer(job: Job, number: number, answer: 'stored' | 'full'): boolean {
    if (answer === 'stored') job.admitted = true;
    const tickets = [...job.placed.values()];
    const answered = tickets.find((ticket) => ticket.number === number);
    // The answer may be to a ticket that was withdrawn meanwhile.
    if (!answered) return false;
    answered.answer = answer;
    return !job.admitted && tickets.every((ticket) => ticket.answer === 'full');
  }

  /** Forgets one ticket. A claim for it is still answered rightly; it only no longer counts as waiting in that pool. */
  withdraw(job: Job, pool: LivePool): void {
    if (job.placed.delete(pool)) pool.waiting -= 1;
  }

  withdrawAll(job: Job): void {
    if (job.placed.size === 0) return;
    for (const pool of job.placed.keys()) pool.waiting -= 1;
    job.placed.clear();
  }

  #planSpill(job: Job, open: readonly Placement[], nextAt: number): void {
    const hasMore = open.some(({ pool }) => !job.placed.has(pool));
    job.spillAt = hasMore ? performance.now() + this.#spillMs : nextAt;
  }

  #add(job: Job, { pool, model }: Placement): void {
    if (job.placed.has(pool)) return;
    pool.waiting += 1;
    job.placed.set(pool, { model, number: job.tickets, publishedAt: 0, answer: 'none' });
    job.tickets += 1;
    this.#publish(job, pool);
  }

  #publish(job: Job, pool: LivePool): void {
    const ticket = job.placed.get(pool);
    if (!ticket || pool.contract === undefined) return;
    ticket.publishedAt = performance.now();
    ticket.answer = 'none';
    const { subjects } = this.#broker;
    const lane = { tier: pool.tier, pool: pool.pool, class: job.request.class };
    const body = encodeTicket({ v: pool.contract, ingress: this.#ingress, job: job.id });
    this.#broker.publish(subjects.jobs(lane), body, subjects.stored(this.#secret, job.id, ticket.number));
  }
}

/** Notes since when nobody could serve a job: no worker is there, or none that is takes jobs. */
function noteWorkers(job: Job, placements: readonly Placement[]): void {
  if (placements.length > 0) job.noWorkerSince = undefined;
  else job.noWorkerSince ??= performance.now();
}
