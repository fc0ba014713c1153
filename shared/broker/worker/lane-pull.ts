import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Lane } from '../contract/subjects.ts';

/** Milliseconds that a pull waits for tickets at the server. */
export const expiresMs = 30_000;

/**
 * Milliseconds between the server's heartbeats for a waiting pull. In a large pool the dispatcher requests heartbeats only for a few
 * pulls.
 */
export const heartbeatMs = 5_000;

/**
 * Milliseconds without a heartbeat after which a waiting pull counts as lost. A cluster of servers drops a pull without an answer while it
 * elects the leader of the pull's lane.
 */
const silentMs = heartbeatMs + 2_000;

/** Milliseconds after which a waiting pull without heartbeats counts as lost. */
const forgottenMs = expiresMs + 3_000;

/** Milliseconds within which the server must end a pull that does not wait. */
const scanAnswerMs = 1_000;

/**
 * Milliseconds within which a dispatcher must confirm a waiting pull. If it takes longer, the worker requests the lanes again, so that
 * another dispatcher replaces one that hangs.
 */
const confirmMs = 1_000;

/**
 * Maximum milliseconds for which an unreadable lane keeps the worker from taking offers. The time is short because a cluster of servers may
 * lack a leader for long.
 */
const unreadableMs = 500;

/**
 * The state of one lane as the worker sees it.
 *
 * - `empty`: no pull is under way.
 * - `scanning`: a pull that does not wait is under way.
 * - `waiting`: pulls wait at the server.
 * - `broken`: the consumer is missing, and the worker has requested it from a dispatcher.
 */
type LaneState = 'empty' | 'scanning' | 'waiting' | 'broken';

/** Tracks the pulls of one lane: the tickets that they may still deliver, and when their answer is overdue. */
export class LanePull {
  readonly lane: Lane;
  #state: LaneState = 'broken';
  #number = 0;
  #open = 0;
  #deadline = Number.POSITIVE_INFINITY;
  #isConfirmed = false;
  /** Since when the server has answered no pull, even if the consumer was made and is missing again. */
  #unreadSince: number | undefined = performance.now();

  constructor(lane: Lane) {
    this.lane = lane;
  }

  get state(): LaneState {
    return this.#state;
  }

  /** The number of the last pull. Answers to an earlier pull, which may still wait at the server, have another number. */
  get number(): number {
    return this.#number;
  }

  get isConfirmed(): boolean {
    return this.#state === 'waiting' && this.#isConfirmed;
  }

  /** Whether no ticket of the lane waits for this worker, because a pull waits, or the lane has been unreadable for a while. */
  isDrained(now: number): boolean {
    return this.#state === 'waiting' || (this.#unreadSince !== undefined && now - this.#unreadSince > unreadableMs);
  }

  begin(state: 'scanning' | 'waiting', number: number, batch: number): void {
    this.#state = state;
    this.#number = number;
    this.#isConfirmed = false;
    this.#open += batch;
    this.#deadline = performance.now() + (state === 'scanning' ? scanAnswerMs : confirmMs);
  }

  /**
   * Counts a delivered ticket.
   * @returns whether the pulls have delivered all tickets that they may deliver
   */
  recordTicket(): boolean {
    this.#unreadSince = undefined;
    // A ticket of an earlier pull, which may still wait at the server, does not count.
    if (this.#open === 0) return false;
    this.#open -= 1;
    return this.#open === 0;
  }

  /**
   * Records that a pull waits at the server.
   * @param hasHeartbeats whether the server sends heartbeats for it
   * @param isServers whether the server reports it, rather than the dispatcher that passes pulls on
   */
  recordWaiting(hasHeartbeats: boolean, isServers = false): void {
    this.#isConfirmed = true;
    if (isServers) this.#unreadSince = undefined;
    if (this.#state === 'waiting') this.#deadline = performance.now() + (hasHeartbeats ? silentMs : forgottenMs);
  }

  /**
   * Records that the server has ended a pull.
   * @param undelivered tickets that the pull leaves undelivered, if the server reports them
   * @returns whether the pulls will deliver no further ticket
   */
  ended(undelivered: number | undefined): boolean {
    this.#unreadSince = undefined;
    this.#open = this.#state === 'scanning' ? 0 : Math.max(0, this.#open - (undelivered ?? this.#open));
    return this.#open === 0;
  }

  empty(): void {
    this.#state = 'empty';
  }

  markBroken(): void {
    this.#state = 'broken';
    this.#unreadSince ??= performance.now();
    this.#number = 0;
    this.#open = 0;
    this.#deadline = Number.POSITIVE_INFINITY;
  }

  isOverdue(now: number): boolean {
    return this.#state !== 'empty' && now > this.#deadline;
  }
}

/**
 * Returns the order in which one scan goes through the lanes, high first. One scan in four begins with normal and one in sixteen with low,
 * so that no class starves behind a backlog of a higher one.
 */
export function scanOrder(scan: number): PriorityClass[] {
  if (scan % 16 === 0) return ['low', 'normal', 'high'];
  if (scan % 4 === 0) return ['normal', 'high', 'low'];
  return ['high', 'normal', 'low'];
}
