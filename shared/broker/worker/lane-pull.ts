import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Lane } from '../contract/subjects.ts';

/** Milliseconds that a pull waits for tickets at the server. */
export const pullExpiryMs = 30_000;

/**
 * Milliseconds between two heartbeats of the server for a waiting pull. In a large pool, the dispatcher requests heartbeats for only some
 * of the pulls.
 */
export const pullHeartbeatMs = 5_000;

/**
 * Milliseconds without a heartbeat after which a waiting pull with heartbeats counts as lost. A cluster of servers drops a pull, without an
 * answer, while it elects the leader of the pull's lane.
 */
const heartbeatTimeoutMs = pullHeartbeatMs + 2_000;

/** Milliseconds after which a waiting pull without heartbeats counts as lost. */
const quietPullTimeoutMs = pullExpiryMs + 3_000;

/** Milliseconds within which the server must answer a pull that does not wait. */
const scanTimeoutMs = 1_000;

/**
 * Milliseconds within which a dispatcher must confirm a waiting pull. If it takes longer, it may hang, and the worker requests the lanes
 * again, so that another dispatcher replaces it.
 */
const confirmTimeoutMs = 1_000;

/**
 * Maximum milliseconds for which a lane keeps the worker from accepting offers while the server answers no pull of the lane. The time is
 * short, because a cluster of servers may be without a leader for long.
 */
const maxUnreadableMs = 500;

/**
 * The state of one lane as the worker sees it:
 *
 * - `empty`: no pull is under way.
 * - `scanning`: a pull is under way that does not wait at the server.
 * - `waiting`: pulls wait at the server for tickets.
 * - `broken`: the lane cannot be read, and the worker has requested it from a dispatcher.
 */
type LaneState = 'empty' | 'scanning' | 'waiting' | 'broken';

/** Tracks a worker's pulls of one lane: how many tickets they may still deliver, and when their answer is overdue. */
export class LanePull {
  readonly lane: Lane;
  #state: LaneState = 'broken';
  #number = 0;
  /** The number of tickets that the pulls may still deliver. */
  #openTickets = 0;
  #deadline = Number.POSITIVE_INFINITY;
  #isConfirmed = false;
  /**
   * When the server stopped answering pulls, even if a dispatcher has made the lane again meanwhile; undefined while the server answers.
   */
  #unreadableSince: number | undefined = performance.now();

  constructor(lane: Lane) {
    this.lane = lane;
  }

  get state(): LaneState {
    return this.#state;
  }

  /**
   * The number of the last pull; 0 if there is none. Earlier pulls may still wait at the server. The answers to them have other numbers.
   */
  get number(): number {
    return this.#number;
  }

  /** Whether a dispatcher or the server has confirmed that the last pull waits. */
  get isConfirmed(): boolean {
    return this.#state === 'waiting' && this.#isConfirmed;
  }

  /**
   * Whether the worker may take offers without passing over a ticket of this lane: a pull waits for a ticket, or the lane has been
   * unreadable for a while.
   */
  hasNoTickets(now: number): boolean {
    return (
      this.#state === 'waiting' ||
      (this.#unreadableSince !== undefined && now - this.#unreadableSince > maxUnreadableMs)
    );
  }

  /**
   * Records that a pull is sent.
   * @param batch the maximum tickets that the pull may deliver
   */
  recordPull(state: 'scanning' | 'waiting', number: number, batch: number): void {
    this.#state = state;
    this.#number = number;
    this.#isConfirmed = false;
    this.#openTickets += batch;
    this.#deadline = performance.now() + (state === 'scanning' ? scanTimeoutMs : confirmTimeoutMs);
  }

  /**
   * Records that a ticket of this lane was delivered.
   * @returns whether the pulls will deliver no further ticket
   */
  recordTicket(): boolean {
    this.#unreadableSince = undefined;
    // If no ticket was expected, the ticket belongs to a pull that counts as lost and still waits at the server.
    if (this.#openTickets === 0) return false;
    this.#openTickets -= 1;
    return this.#openTickets === 0;
  }

  /**
   * Records that a pull waits at the server.
   * @param hasHeartbeats whether the server sends heartbeats for the pull
   * @param isFromServer whether the server reports the wait, rather than the dispatcher that passes pulls on
   */
  recordWaiting(hasHeartbeats: boolean, isFromServer = false): void {
    this.#isConfirmed = true;
    if (isFromServer) this.#unreadableSince = undefined;
    if (this.#state === 'waiting')
      this.#deadline = performance.now() + (hasHeartbeats ? heartbeatTimeoutMs : quietPullTimeoutMs);
  }

  /**
   * Records that the server has ended a pull.
   * @param undelivered the number of tickets that the pull could still have delivered, if the server reports it
   * @returns whether the pulls will deliver no further ticket
   */
  recordEnd(undelivered: number | undefined): boolean {
    this.#unreadableSince = undefined;
    this.#openTickets =
      this.#state === 'scanning' ? 0 : Math.max(0, this.#openTickets - (undelivered ?? this.#openTickets));
    return this.#openTickets === 0;
  }

  /** Records that no pull of this lane is under way. */
  markEmpty(): void {
    this.#state = 'empty';
  }

  /** Records that the lane cannot be read, and drops the state of its pulls. */
  markBroken(): void {
    this.#state = 'broken';
    this.#unreadableSince ??= performance.now();
    this.#number = 0;
    this.#openTickets = 0;
    this.#deadline = Number.POSITIVE_INFINITY;
  }

  /** Whether the answer to the last pull is overdue. */
  isOverdue(now: number): boolean {
    return this.#state !== 'empty' && now > this.#deadline;
  }
}

/**
 * Computes the order in which a scan goes through the lanes. Most scans begin with `high`. One scan in four begins with `normal`, and one
 * in sixteen with `low`, so that no class starves behind a backlog of a higher class.
 * @param scanNumber the number of the scan, counted from 1
 */
export function computeScanOrder(scanNumber: number): PriorityClass[] {
  if (scanNumber % 16 === 0) return ['low', 'normal', 'high'];
  if (scanNumber % 4 === 0) return ['normal', 'high', 'low'];
  return ['high', 'normal', 'low'];
}
