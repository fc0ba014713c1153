import type { Msg } from '@nats-io/transport-node';
import { noResponders, type Broker } from '../../connection/connect-broker.ts';
import type { LiveWorker } from '../workers/live-worker.ts';

/** Milliseconds without a frame of a worker that has jobs, after which the broker is asked whether the worker is connected. */
const quietMs = 250;

/** Milliseconds between two such questions. */
const askMs = 250;
/** The same while the broker reports that the connection is closed. */
const closedAskMs = 80;

/** Milliseconds without an answer after which a worker counts as connected. The broker reports a closed connection at once. */
const answerMs = 200;

const rememberedMs = 1_000;

/**
 * Milliseconds between the first and the last question that the broker answered with a closed connection, after which it counts as closed. A worker that has only
 * lost its connection reconnects at once.
 */
const closedMs = 150;

/**
 * The same limit if another worker's connection closed less than `togetherMs` before or after. The workers may have lost their server, and
 * all workers of that server reconnect at the same time.
 */
const closedTogetherMs = 450;
const togetherMs = 500;

/** Milliseconds after a reconnect of this dispatcher during which all workers may still be reconnecting. */
const reconnectMs = 2_000;

/** Times are milliseconds of `performance.now()`. */
interface ConnectionState {
  askedAt: number;
  isAsking: boolean;
  /** When the first question was asked to which the broker answered that the connection is closed; undefined while it is open. */
  closedSince: number | undefined;
  /** When the last such question was asked. */
  closedAt: number;
}

/**
 * Detects workers that are not connected to the broker any more, long before their heartbeats are missed. It sends a quiet worker a message
 * that the worker ignores; the broker answers if nobody receives the message. A question about a connected worker costs one message and no
 * timer, because nearly all workers are connected.
 */
export class ClosedConnections {
  readonly #broker: Broker;
  readonly #contacts = new WeakMap<LiveWorker, ConnectionState>();
  /** Subject prefix of the broker's answers. Their last token is the question's number. */
  readonly #answers: string;
  readonly #stopListening: () => void;
  readonly #pending = new Map<number, { contact: ConnectionState; at: number }>();
  #questions = 0;
  readonly #closed = new Set<ConnectionState>();
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
   * @param cameAt when the last frame of one of the worker's jobs came, or when it got the job
   */
  isClosed(worker: LiveWorker, cameAt: number, now: number): boolean {
    const isQuiet = now - Math.max(cameAt, worker.lastFrameAt) >= quietMs;
    // If workers lost their server together, all of them must be found closed before the limit of the first one passes.
    if (!isQuiet && now - this.#closedAt > closedTogetherMs) return false;
    let contact = this.#contacts.get(worker);
    if (!contact)
      this.#contacts.set(worker, (contact = { askedAt: 0, isAsking: false, closedSince: undefined, closedAt: 0 }));
    if (contact.isAsking && now - contact.askedAt >= answerMs) this.#open(contact);
    const { askedAt, isAsking, closedSince } = contact;
    const dueMs = closedSince === undefined ? askMs : closedAskMs;
    const isDue = askedAt < this.#closedAt || (isQuiet && now - askedAt >= dueMs);
    if (isDue && !isAsking) this.#ask(worker, contact, now);
    if (!isQuiet || closedSince === undefined) return false;
    return contact.closedAt - closedSince >= this.#certainMs(contact, closedSince);
  }

  /** Waits longer if the lost server may have served this dispatcher or other workers, too. */
  #certainMs(contact: ConnectionState, closedSince: number): number {
    if (closedSince - this.#broker.connectedSince < reconnectMs) return closedTogetherMs;
    for (const other of this.#closed) {
      if (other !== contact && Math.abs((other.closedSince ?? 0) - closedSince) < togetherMs) return closedTogetherMs;
    }
    return closedMs;
  }

  #ask(worker: LiveWorker, contact: ConnectionState, now: number): void {
    contact.askedAt = now;
    contact.isAsking = true;
    for (const [number, { at }] of this.#pending) {
      if (now - at < rememberedMs) break;
      this.#pending.delete(number);
    }
    this.#questions += 1;
    this.#pending.set(this.#questions, { contact, at: now });
    // A worker ignores the cancellation of a grant that it does not have.
    const { subjects } = this.#broker;
    this.#broker.publish(subjects.cancel(worker.address), '', `${this.#answers}.${this.#questions}`);
  }

  #onAnswer({ subject, headers }: Msg): void {
    const number = Number(subject.slice(this.#answers.length + 1));
    const question = this.#pending.get(number);
    this.#pending.delete(number);
    if (headers?.code !== noResponders || !question?.contact.isAsking) return;
    question.contact.isAsking = false;
    this.#close(question.contact, question.at);
  }

  #open(contact: ConnectionState): void {
    contact.isAsking = false;
    contact.closedSince = undefined;
    this.#closed.delete(contact);
  }

  /** @param askedAt when the question was asked. The answer may be read much later, if this process was blocked */
  #close(contact: ConnectionState, askedAt: number): void {
    contact.closedAt = askedAt;
    if (contact.closedSince !== undefined) return;
    for (const other of this.#closed) {
      if (askedAt - (other.closedSince ?? 0) > togetherMs + closedTogetherMs) this.#closed.delete(other);
    }
    contact.closedSince = askedAt;
    this.#closed.add(contact);
    this.#closedAt = performance.now();
  }
}
