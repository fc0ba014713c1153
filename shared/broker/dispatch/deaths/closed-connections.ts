import { RequestError } from '@nats-io/transport-node';
import type { Broker } from '../../connection/connect-broker.ts';
import type { LiveWorker } from '../workers/live-pool.ts';

/** Milliseconds without a frame of a worker that has jobs, after which the broker is asked whether it is connected. */
const quietMs = 300;

/** Milliseconds between two such questions, and while the answer is no. */
const askMs = 400;
const closedAskMs = 100;

/** Milliseconds without an answer after which a worker is connected: that it is not, the broker says at once. */
const answerMs = 200;

/** Milliseconds that a connection has to be closed for: a worker that has only lost its server is back sooner. */
const closedMs = 500;

/** What is known of one worker's connection. Times are milliseconds of `performance.now()`. */
interface Contact {
  askedAt: number;
  isAsking: boolean;
  closedSince: number | undefined;
}

/**
 * Finds out which workers are not connected to the broker any more, long before their heartbeats are missed. A quiet worker is
 * sent a message that it ignores; the broker answers when there is nobody who receives it.
 */
export class ClosedConnections {
  readonly #broker: Broker;
  readonly #contacts = new WeakMap<LiveWorker, Contact>();

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /**
   * Whether a worker's connection has been closed for half a second. Asks when it is due.
   * @param heardAt when the last frame of one of its jobs came, or it was given the job
   */
  has(worker: LiveWorker, heardAt: number, now: number): boolean {
    if (now - Math.max(heardAt, worker.lastFrameAt) < quietMs) return false;
    let contact = this.#contacts.get(worker);
    if (!contact) this.#contacts.set(worker, (contact = { askedAt: 0, isAsking: false, closedSince: undefined }));
    const { askedAt, isAsking, closedSince } = contact;
    if (!isAsking && now - askedAt >= (closedSince === undefined ? askMs : closedAskMs))
      this.#ask(worker, contact, now);
    return closedSince !== undefined && now - closedSince >= closedMs;
  }

  #ask(worker: LiveWorker, contact: Contact, now: number): void {
    contact.askedAt = now;
    contact.isAsking = true;
    // A worker ignores every command that it does not know.
    this.#broker.nc
      .request(this.#broker.subjects.drain(worker.address), '', { timeout: answerMs })
      .then(
        () => undefined,
        (error: unknown) => {
          const isClosed = error instanceof RequestError && error.isNoResponders();
          contact.closedSince = isClosed ? (contact.closedSince ?? performance.now()) : undefined;
        },
      )
      .finally(() => {
        contact.isAsking = false;
      });
  }
}
