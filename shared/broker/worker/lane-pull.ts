import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Lane } from '../contract/subjects.ts';

/** Milliseconds that a pull waits for tickets at the server. */
export const expiresMs = 30_000;

/** Milliseconds between the server's heartbeats for a pull that waits. In a large pool the ingress asks for none for most of them. */
export const heartbeatMs = 5_000;

/**
 * Milliseconds without a heartbeat after which a waiting pull counts as forgotten: one that arrives while a cluster of servers
 * elects the leader of its lane is dropped without an answer.
 */
const silentMs = heartbeatMs + 2_000;

/** Milliseconds after which a waiting pull without heartbeats counts as forgotten. */
const forgottenMs = expiresMs + 3_000;

/** Milliseconds for the server to end a pull that does not wait. */
const scanAnswerMs = 1_000;

/** Milliseconds for an ingress to confirm a pull that waits: one that stands still is left for another. */
const confirmMs = 1_000;

/** Milliseconds after which a lane that cannot be read holds up no offers: a cluster of servers may be without a leader for long. */
const unreadableMs = 500;

/**
 * What a worker knows of one lane.
 *
 * - `empty`: no pull is under way.
 * - `scanning`: a pull that does not wait is under way.
 * - `waiting`: pulls wait at the server.
 * - `broken`: the consumer is missing, and an ingress is asked to make it.
 */
type LaneState = 'empty' | 'scanning' | 'waiting' | 'broken';

/** The pulls of one lane: what they may still deliver, and when their answer is overdue. */
export class LanePull {
  readonly lane: Lane;
  #state: LaneState = 'broken';
  #number = 0;
  #open = 0;
  #deadline = Number.POSITIVE_INFINITY;
  #isConfirmed = false;
  /** Since when the server has answered no pull, while the consumer is missing again and again. */
  #unreadSince: number | undefined = performance.now();

  constructor(lane: Lane) {
    this.lane = lane;
  }

  get state(): LaneState {
    return this.#state;
  }

  /** The number of the last pull. Answers to an earlier one, which may still wait at the server, are not of this one. */
  get number(): number {
    return this.#number;
  }

  /** Whether a pull waits at the server for certain. */
  get isConfirmed(): boolean {
    return this.#state === 'waiting' && this.#isConfirmed;
  }

  /** Whether no ticket of the lane can wait for this worker: a pull waits, or the server has not let it read the lane for a while. */
  isDrained(now: number): boolean {
    return this.#state === 'waiting' || (this.#unreadSince !== undefined && now - this.#unreadSince > unreadableMs);
  }

  /** A pull goes to the server. */
  begin(state: 'scanning' | 'waiting', number: number, batch: number): void {
    this.#state = state;
    this.#number = number;
    this.#isConfirmed = false;
    this.#open += batch;
    this.#deadline = performance.now() + (state === 'scanning' ? scanAnswerMs : confirmMs);
  }

  /** A ticket has come. @returns whether the pulls have delivered all that they may */
  received(): boolean {
    this.#unreadSince = undefined;
    // A ticket of an earlier pull, which may still wait at the server, does not count.
    if (this.#open === 0) return false;
    this.#open -= 1;
    return this.#open === 0;
  }

  /**
   * A pull waits at the server.
   * @param hasHeartbeats whether the server sends heartbeats for it
   * @param isServers whether the server says so, rather than the ingress that hands pulls on
   */
  stillWaits(hasHeartbeats: boolean, isServers = false): void {
    this.#isConfirmed = true;
    if (isServers) this.#unreadSince = undefined;
    if (this.#state === 'waiting') this.#deadline = performance.now() + (hasHeartbeats ? silentMs : forgottenMs);
  }

  /**
   * The server has ended a pull.
   * @param undelivered tickets that it leaves undelivered, where the server reports them
   * @returns whether the pulls deliver nothing more
   */
  ended(undelivered: number | undefined): boolean {
    this.#unreadSince = undefined;
    this.#open = this.#state === 'scanning' ? 0 : Math.max(0, this.#open - (undelivered ?? this.#open));
    return this.#open === 0;
  }

  /** Nothing more comes of its pulls. */
  empty(): void {
    this.#state = 'empty';
  }

  /** The consumer is missing, or has forgotten the pull. */
  break(): void {
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
 * The order in which one scan looks at the lanes. High first, but one scan in four begins with normal and one in
 * sixteen with low, so that no class starves behind a backlog of a higher one.
 */
export function classOrder(scan: number): PriorityClass[] {
  if (scan % 16 === 0) return ['low', 'normal', 'high'];
  if (scan % 4 === 0) return ['normal', 'high', 'low'];
  return ['high', 'normal', 'low'];
}
