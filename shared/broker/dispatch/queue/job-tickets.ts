import type { Placement } from '../workers/live-pool.ts';
import type { LivePool } from '../workers/live-worker.ts';

/** Minimum milliseconds between two tickets of a job that are sent straight to workers. */
const minHandOverIntervalMs = 1_000;

/** A job's ticket in the lane of one pool, which is published or held back. */
export interface PlacedTicket {
  placement: Placement;
  /** The job's place in the lane. */
  place: Readonly<{ isHeld: boolean }>;
  /** Gives up the job's place in the lane. `leavesTicket`: whether a ticket of the job stays in the lane. */
  leave: (leavesTicket: boolean) => void;
  /** The number of this ticket among the job's tickets. The subject of the broker's answer contains it. */
  number: number;
  /** When the ticket was last published; 0 before that. */
  publishedAt: number;
  /** When the ticket was first published; undefined before that. */
  waitingSince: number | undefined;
  /** The broker's answer to the ticket. */
  answer: 'none' | 'stored' | 'full';
  /** The number of the stored ticket in its stream. */
  seq: number | undefined;
}

const noTickets: ReadonlyMap<LivePool, PlacedTicket> = new Map();

/** The tickets of one job, at most one for each pool. A ticket counts as waiting in its pool until it is withdrawn. */
export class JobTickets {
  /** Undefined until the job has a ticket. Most jobs are offered and never have one. */
  #placed: Map<LivePool, PlacedTicket> | undefined;
  #count = 0;
  #isAdmitted = false;
  #overflowAt = Number.POSITIVE_INFINITY;
  #handedOverAt = Number.NEGATIVE_INFINITY;

  get placed(): ReadonlyMap<LivePool, Readonly<PlacedTicket>> {
    return this.#placed ?? noTickets;
  }

  /** The number of tickets that the job has had. */
  get count(): number {
    return this.#count;
  }

  /**
   * Whether the broker has stored a ticket of the job, or a ticket was held back. From then on, the job waits even if the queue is full.
   */
  get isAdmitted(): boolean {
    return this.#isAdmitted;
  }

  /** When a ticket overflows into the next lane, in milliseconds of `performance.now()`. */
  get overflowAt(): number {
    return this.#overflowAt;
  }

  /**
   * Records that a ticket is sent straight to a worker, unless another ticket was sent in this way within the last second.
   * @returns whether the ticket may be sent
   */
  tryHandOver(now: number): boolean {
    if (now - this.#handedOverAt < minHandOverIntervalMs) return false;
    this.#handedOverAt = now;
    return true;
  }

  setOverflowAt(time: number): void {
    this.#overflowAt = time;
  }

  /** Adds a ticket. If its place is not held, the caller must publish it. */
  addTicket(placement: Placement, place: PlacedTicket['place'], leave: PlacedTicket['leave']): void {
    const { pool } = placement;
    pool.waiting += 1;
    if (place.isHeld) this.#isAdmitted = true;
    this.#placed ??= new Map();
    this.#placed.set(pool, {
      placement,
      place,
      leave,
      number: this.#count,
      publishedAt: 0,
      waitingSince: undefined,
      answer: 'none',
      seq: undefined,
    });
    this.#count += 1;
  }

  /** Records that the ticket of a pool is published, for the first time or again. Returns undefined if there is no such ticket. */
  recordPublished(pool: LivePool): Readonly<PlacedTicket> | undefined {
    const ticket = this.#placed?.get(pool);
    if (!ticket) return undefined;
    ticket.publishedAt = performance.now();
    ticket.waitingSince ??= ticket.publishedAt;
    ticket.answer = 'none';
    ticket.seq = undefined;
    return ticket;
  }

  /**
   * Records the broker's answer to a ticket.
   * @returns whether the broker has now refused all tickets of a job that was never admitted
   */
  recordAnswer(number: number, answer: 'stored' | 'full', seq?: number): boolean {
    if (answer === 'stored') this.#isAdmitted = true;
    const tickets = [...(this.#placed?.values() ?? [])];
    const answeredTicket = tickets.find((ticket) => ticket.number === number);
    // The answer may belong to a ticket that was withdrawn meanwhile.
    if (!answeredTicket) return false;
    answeredTicket.answer = answer;
    answeredTicket.seq = seq;
    return !this.#isAdmitted && tickets.every((ticket) => ticket.answer === 'full');
  }

  /**
   * Removes the ticket of a pool. The ticket may stay in the lane; a claim with it can then get another job.
   * @param isSpent whether the ticket was claimed, or can never be claimed, so that no other job can get its claim
   */
  withdraw(pool: LivePool, isSpent = false): void {
    const ticket = this.#placed?.get(pool);
    if (!ticket) return;
    this.#placed?.delete(pool);
    pool.waiting -= 1;
    ticket.leave(!isSpent && ticket.publishedAt > 0 && ticket.answer !== 'full');
  }

  withdrawAll(areSpent = false): void {
    for (const pool of this.placed.keys()) this.withdraw(pool, areSpent);
  }
}
