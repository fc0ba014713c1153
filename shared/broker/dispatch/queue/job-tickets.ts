import type { LivePool, Placement } from '../workers/live-pool.ts';

const handOverMs = 1_000;

export interface PlacedTicket {
  placement: Placement;
  /** The job's place in the lane. */
  place: Readonly<{ isHeld: boolean }>;
  /** Gives the job's place in the lane up. */
  leave: (leavesTicket: boolean) => void;
  /** The number of this ticket among the job's tickets, so that each of the broker's answers finds its ticket. */
  number: number;
  publishedAt: number;
  /** When it was first published; undefined before that. */
  waitingSince: number | undefined;
  answer: 'none' | 'stored' | 'full';
  seq: number | undefined;
}

const noTickets: ReadonlyMap<LivePool, PlacedTicket> = new Map();

/** The tickets of one job. Each counts as waiting in its pool until it is withdrawn. */
export class JobTickets {
  /** Undefined until the job has a ticket. Most jobs are offered and never have one. */
  #placed: Map<LivePool, PlacedTicket> | undefined;
  #count = 0;
  #isAdmitted = false;
  #overflowAt = Number.POSITIVE_INFINITY;
  #handedAt = Number.NEGATIVE_INFINITY;

  get placed(): ReadonlyMap<LivePool, Readonly<PlacedTicket>> {
    return this.#placed ?? noTickets;
  }

  get count(): number {
    return this.#count;
  }

  /** Whether the broker has stored one of the tickets, or one is held back. From then on the job waits, even if the queue is full. */
  get isAdmitted(): boolean {
    return this.#isAdmitted;
  }

  /** When a ticket overflows into the next lane, in milliseconds of `performance.now()`. */
  get overflowAt(): number {
    return this.#overflowAt;
  }

  /** Whether a ticket may be sent straight to a worker, because none was sent in the last second. If so, records that a ticket is sent. */
  tryHandOver(now: number): boolean {
    if (now - this.#handedAt < handOverMs) return false;
    this.#handedAt = now;
    return true;
  }

  overflowsAt(time: number): void {
    this.#overflowAt = time;
  }

  /** Adds a ticket, which is held back or published next. */
  place(placement: Placement, place: PlacedTicket['place'], leave: PlacedTicket['leave']): void {
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

  /** Records that the ticket of a pool goes to the broker, for the first time or again. */
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
   * @returns whether all tickets of a job that was never admitted are refused
   */
  recordAnswer(number: number, answer: 'stored' | 'full', seq?: number): boolean {
    if (answer === 'stored') this.#isAdmitted = true;
    const tickets = [...(this.#placed?.values() ?? [])];
    const answered = tickets.find((ticket) => ticket.number === number);
    // The answer may belong to a ticket that was withdrawn meanwhile.
    if (!answered) return false;
    answered.answer = answer;
    answered.seq = seq;
    return !this.#isAdmitted && tickets.every((ticket) => ticket.answer === 'full');
  }

  /**
   * Removes the ticket of a pool. A claim for it is still answered correctly.
   * @param isSpent whether the ticket was claimed, or can never be claimed, so that it does not stand for another job
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
