import type { Msg } from '@nats-io/transport-node';
import { noRespondersCode, type Broker } from '../../connection/connect-broker.ts';
import type { LiveWorker } from '../workers/live-worker.ts';

/**
 * A worker with jobs counts as quiet after this many milliseconds without a frame. The broker is then asked whether the worker is
 * connected.
 */
const quietMs = 250;

/** Milliseconds between two questions about a quiet worker. */
const askIntervalMs = 250;
/** Milliseconds between two questions while the broker reports that the connection is closed. */
const closedAskIntervalMs = 80;

/** Milliseconds without an answer after which a worker counts as connected. The broker reports a closed connection at once. */
const answerMs = 200;

/** Milliseconds after which a question without an answer is dropped. */
const maxPendingMs = 1_000;

/**
 * A connection counts as closed if the broker has reported it as closed for at least this many milliseconds. A worker that has only lost
 * its connection reconnects at once.
 */
const closedMs = 150;

/**
 * The limit that replaces `closedMs` if another worker's connection closed less than `togetherMs` before or after. The workers may have
 * lost their server, and all workers of that server reconnect at the same time.
 */
const closedTogetherMs = 450;
const togetherMs = 500;

/** Milliseconds after a reconnect of this dispatcher during which all workers may still be reconnecting. */
const reconnectMs = 2_000;

/** Times are milliseconds of `performance.now()`. */
interface ConnectionState {
  askedAt: number;
  isAsking: boolean;
  /** When the first question was asked that the broker answered with "closed"; undefined while the connection is open. */
  closedSince: number | undefined;
  /** When the last question was asked that the broker answered with "closed". */
  closedAt: number;
}

/**
 * Detects workers that are not connected to the broker any more, long before their heartbeats are missed. Sends a quiet worker a message
 * that the worker ignores. If nobody receives the message, the broker answers it. A question about a connected worker costs one message and
 * no timer, because nearly all workers are connected.
 */
export class ClosedConnections {
  readonly #broker: Broker;
  readonly #states = new WeakMap<LiveWorker, ConnectionState>();
  /** Subject prefix of the broker's answers. Their last token is the question's number. */
  readonly #answers: string;
  readonly #stopListening: () => void;
  readonly #pending = new Map<number, { state: ConnectionState; askedAt: number }>();
  #questions = 0;
  readonly #closedStates = new Set<ConnectionState>();
  /** When the broker last reported that an open connection had closed. */
  #closedAt = Number.NEGATIVE_INFINITY;

  constructor(broker: Broker) {
    this.#broker = broker;
    this.#answers = broker.createInbox();
    const subscription = broker.subscribe(`${this.#answers}.*`, (message) => this.#onAnswer(message));
    this.#stopListening = () => subscription.unsubscribe();
  }

  close(): void {
    this.#stopListening();
  }

  /**
   * Whether a worker's connection has been closed for long enough. Asks the broker when a question is due.
   * @param lastFrameAt when the last frame of one of the worker's jobs came, or when it got the job
   */
  isClosed(worker: LiveWorker, lastFrameAt: number, now: number): boolean {
    const isQuiet = now - Math.max(lastFrameAt, worker.lastFrameAt) >= quietMs;
    // If several workers lost their server together, all of them must be found closed before the limit of the first one passes.
    if (!isQuiet && now - this.#closedAt > closedTogetherMs) return false;
    let state = this.#states.get(worker);
    if (!state)
      this.#states.set(worker, (state = { askedAt: 0, isAsking: false, closedSince: undefined, closedAt: 0 }));
    if (state.isAsking && now - state.askedAt >= answerMs) this.#markOpen(state);
    const { askedAt, isAsking, closedSince } = state;
    const dueMs = closedSince === undefined ? askIntervalMs : closedAskIntervalMs;
    const isDue = askedAt < this.#closedAt || (isQuiet && now - askedAt >= dueMs);
    if (isDue && !isAsking) this.#ask(worker, state, now);
    if (!isQuiet || closedSince === undefined) return false;
    return state.closedAt - closedSince >= this.#chooseClosedMs(state, closedSince);
  }

  /**
   * Returns the limit for a connection: `closedTogetherMs` if this dispatcher or other workers may have lost the same server, otherwise
   * `closedMs`.
   */
  #chooseClosedMs(state: ConnectionState, closedSince: number): number {
    if (closedSince - this.#broker.connectedSince < reconnectMs) return closedTogetherMs;
    for (const other of this.#closedStates) {
      if (other !== state && Math.abs((other.closedSince ?? 0) - closedSince) < togetherMs) return closedTogetherMs;
    }
    return closedMs;
  }

  #ask(worker: LiveWorker, state: ConnectionState, now: number): void {
    state.askedAt = now;
    state.isAsking = true;
    for (const [number, { askedAt }] of this.#pending) {
      if (now - askedAt < maxPendingMs) break;
      this.#pending.delete(number);
    }
    this.#questions += 1;
    this.#pending.set(this.#questions, { state, askedAt: now });
    // A worker ignores the cancellation of a grant that it does not have.
    const { subjects } = this.#broker;
    this.#broker.publish(subjects.cancel(worker.address), '', `${this.#answers}.${this.#questions}`);
  }

  #onAnswer({ subject, headers }: Msg): void {
    const number = Number(subject.slice(this.#answers.length + 1));
    const question = this.#pending.get(number);
    this.#pending.delete(number);
    if (headers?.code !== noRespondersCode || !question?.state.isAsking) return;
    question.state.isAsking = false;
    this.#markClosed(question.state, question.askedAt);
  }

  #markOpen(state: ConnectionState): void {
    state.isAsking = false;
    state.closedSince = undefined;
    this.#closedStates.delete(state);
  }

  /** @param askedAt when the question was asked. The answer may be read much later, if this process was blocked */
  #markClosed(state: ConnectionState, askedAt: number): void {
    state.closedAt = askedAt;
    if (state.closedSince !== undefined) return;
    for (const other of this.#closedStates) {
      if (askedAt - (other.closedSince ?? 0) > togetherMs + closedTogetherMs) this.#closedStates.delete(other);
    }
    state.closedSince = askedAt;
    this.#closedStates.add(state);
    this.#closedAt = performance.now();
  }
}
