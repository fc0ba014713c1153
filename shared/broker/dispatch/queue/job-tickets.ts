import type { LivePool, Placement } from '../workers/live-pool.ts';

/** Milliseconds between two tickets of a job that are sent straight to a worker. */
const handOverMs = 1_000;

/** A ticket that stands for a job in one pool's lane. */
export interface PlacedTicket {
  /** What is granted to the worker that claims it. */
  placement: Placement;
  /** Its place in the lane, and the call that gives it up. */
  place: Readonly<{ isHeld: boolean }>;
  leave: (leavesTicket: boolean) => void;
  /** Counts the job's tickets, so that each of the broker's answers finds its ticket. */
  number: number;
  publishedAt: number;
  /** When it was published first; undefined before that. */
  waitingSince: number | undefined;
  /** The broker's answer to the ticket. */
  answer: 'none' | 'stored' | 'full';
  /** Its number in the stream that the broker stored it in. */
  seq: number | undefined;
}

const none: ReadonlyMap<LivePool, PlacedTicket> = new Map();

/** The tickets of one job. Each counts as waiting in its pool until it is withdrawn. */
export class JobTickets {
  /** Undefined until there is one: most jobs are offered and have none. */
  #placed: Map<LivePool, PlacedTicket> | undefined;
  #count = 0;
  #isAdmitted = false;
  #spillAt = Number.POSITIVE_INFINITY;
  #handedAt = Number.NEGATIVE_INFINITY;

  /** Pools that a ticket stands in. */
  get placed(): ReadonlyMap<LivePool, Readonly<PlacedTicket>> {
    return this.#placed ?? none;
  }

  /** Tickets placed so far, withdrawn ones included. */
  get count(): number {
    return this.#count;
  }

  /** Whether the broker has stored one of them, or one is held. From then on the job waits, also when the queue is full. */
  get isAdmitted(): boolean {
    return this.#isAdmitted;
  }

  /** When a ticket goes to the next lane too, a time of `performance.now()`. */
  get spillAt(): number {
    return this.#spillAt;
  }

  /** Whether a ticket may be sent straight to a worker, because none was in the last second. Notes that one is. */
  mayHandOver(now: number): boolean {
    if (now - this.#handedAt < handOverMs) return false;
    this.#handedAt = now;
    return true;
  }

  /** Plans the next lane for this time. */
  spillsAt(time: number): void {
    this.#spillAt = time;
  }

  /** Adds a ticket, which is held or published next. */
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

  /** The ticket of a pool goes to the broker, for the first time or again. */
  publish(pool: LivePool): Readonly<PlacedTicket> | undefined {
    const ticket = this.#placed?.get(pool);
    if (!ticket) return undefined;
    ticket.publishedAt = performance.now();
    ticket.waitingSince ??= ticket.publishedAt;
    ticket.answer = 'none';
    ticket.seq = undefined;
    return ticket;
  }

  /** The broker has answered a ticket. @returns whether all tickets of a job that was never admitted are refused */
  answered(number: number, answer: 'stored' | 'full', seq?: number): boolean {
    if (answer === 'stored') this.#isAdmitted = true;
    const tickets = [...(this.#placed?.values() ?? [])];
    const answered = tickets.find((ticket) => ticket.number === number);
    // The answer may be to a ticket that was withdrawn meanwhile.
    if (!answered) return false;
    answered.answer = answer;
    answered.seq = seq;
    return !this.#isAdmitted && tickets.every((ticket) => ticket.answer === 'full');
  }

  /**
   * Forgets the ticket of a pool. A claim for it is still answered rightly.
   * @param isSpent whether it was claimed, or may never be: it does not stand for another job
   */
  withdraw(pool: LivePool, isSpent = false): void {
    const ticket = this.#placed?.get(pool);
    if (!ticket) return;
    this.#placed?.delete(pool);
    pool.waiting -= 1;
    ticket.leave(!isSpent && ticket.publishedAt > 0 && ticket.answer !== 'full');
  }

  /** Forgets all of them. */
  withdrawAll(areSpent = false): void {
    for (const pool of this.placed.keys()) this.withdraw(pool, areSpent);
  }
}
