import type { Msg } from '@nats-io/transport-node';
import { noResponders, type Broker } from '../../connection/connect-broker.ts';
import type { LiveWorker } from '../workers/live-pool.ts';

/** Milliseconds without a frame of a worker that has jobs, after which the broker is asked whether it is connected. */
const quietMs = 250;

/** Milliseconds between two such questions, and while the answer is no. */
const askMs = 250;
const closedAskMs = 80;

/** Milliseconds without an answer after which a worker is connected: that it is not, the broker says at once. */
const answerMs = 200;

/** Milliseconds for which a question is remembered. */
const rememberedMs = 1_000;

/**
 * Milliseconds between the first and the last such answer, after which a connection counts as closed. A worker that has only
 * lost its connection makes a new one at once.
 */
const closedMs = 150;

/**
 * The same where another worker's connection closed less than `togetherMs` before or after: they may have lost their server,
 * and all that it served connect elsewhere at the same time.
 */
const closedTogetherMs = 450;
const togetherMs = 500;

/** Milliseconds after this ingress has connected again, in which all workers may still be connecting. */
const reconnectMs = 2_000;

/** What is known of one worker's connection. Times are milliseconds of `performance.now()`. */
interface Contact {
  askedAt: number;
  /** Whether the last question may still be answered. */
  isAsking: boolean;
  /** When the broker first said that it is closed, and last. */
  closedSince: number | undefined;
  closedAt: number;
}

/**
 * Finds out which workers are not connected to the broker any more, long before their heartbeats are missed. A quiet worker is
 * sent a message that it ignores; the broker answers when there is nobody who receives it. A worker that is connected costs one
 * message each time, and no timer, because nearly all are.
 */
export class ClosedConnections {
  readonly #broker: Broker;
  readonly #contacts = new WeakMap<LiveWorker, Contact>();
  /** Subject prefix of the broker's answers. Their last token is the question's number. */
  readonly #answers: string;
  readonly #stopListening: () => void;
  /** Whom the questions of the last second were about, by number. */
  readonly #asked = new Map<number, { contact: Contact; at: number }>();
  #questions = 0;
  /** Those found closed in the last second. */
  readonly #closed = new Set<Contact>();
  /** When a connection was last found closed. */
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
   * Whether a worker's connection has been closed for long enough. Asks when it is due.
   * @param cameAt when the last frame of one of its jobs came, or it was given the job
   */
  has(worker: LiveWorker, cameAt: number, now: number): boolean {
    const isQuiet = now - Math.max(cameAt, worker.lastFrameAt) >= quietMs;
    // Those that lost their server with one that is found closed are to be known before that one's time is up.
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

  /** A server that was lost may have served this ingress as well. */
  #certainMs(contact: Contact, closedSince: number): number {
    if (closedSince - this.#broker.connectedSince < reconnectMs) return closedTogetherMs;
    for (const other of this.#closed) {
      if (other !== contact && Math.abs((other.closedSince ?? 0) - closedSince) < togetherMs) return closedTogetherMs;
    }
    return closedMs;
  }

  #ask(worker: LiveWorker, contact: Contact, now: number): void {
    contact.askedAt = now;
    contact.isAsking = true;
    for (const [number, { at }] of this.#asked) {
      if (now - at < rememberedMs) break;
      this.#asked.delete(number);
    }
    this.#questions += 1;
    this.#asked.set(this.#questions, { contact, at: now });
    // A worker ignores the cancellation of a grant that it has not.
    const { subjects } = this.#broker;
    this.#broker.publish(subjects.cancel(worker.address), '', `${this.#answers}.${this.#questions}`);
  }

  #onAnswer({ subject, headers }: Msg): void {
    const number = Number(subject.slice(this.#answers.length + 1));
    const contact = this.#asked.get(number)?.contact;
    this.#asked.delete(number);
    if (headers?.code !== noResponders || !contact?.isAsking) return;
    contact.isAsking = false;
    this.#close(contact, performance.now());
  }

  #open(contact: Contact): void {
    contact.isAsking = false;
    contact.closedSince = undefined;
    this.#closed.delete(contact);
  }

  #close(contact: Contact, now: number): void {
    contact.closedAt = now;
    if (contact.closedSince !== undefined) return;
    for (const other of this.#closed) {
      if (now - (other.closedSince ?? 0) > togetherMs + closedTogetherMs) this.#closed.delete(other);
    }
    contact.closedSince = now;
    this.#closed.add(contact);
    this.#closedAt = now;
  }
}
