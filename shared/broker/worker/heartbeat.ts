import { encodeAnnouncement, goodbye, type Announcement } from '../contract/announcement.ts';
import type { Broker } from '../connection/connect-broker.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';

/** Milliseconds between two heartbeats. */
const heartbeatMs = 1_000;

/** Milliseconds that a heartbeat for a small change waits for others like it. */
const soonMs = 50;

/** Announces a worker each second, on change and on request, until it says good-bye. */
export class Heartbeat {
  readonly #broker: Broker;
  readonly #announcement: () => Announcement;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  readonly #subject: string;
  #soon: NodeJS.Timeout | undefined;

  constructor(broker: Broker, worker: WorkerAddress, announcement: () => Announcement) {
    this.#broker = broker;
    this.#subject = broker.subjects.heartbeat(worker);
    this.#announcement = announcement;
    this.#timer = setInterval(() => this.now(), heartbeatMs);
    const announceRequests = broker.subscribe(broker.subjects.announceRequest, () => this.now());
    const stopReconnect = broker.onReconnect(() => this.now());
    this.#stopListening = () => {
      announceRequests.unsubscribe();
      stopReconnect();
    };
    this.now();
  }

  /** Announces at once, because something changed. */
  now(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#broker.publish(this.#subject, encodeAnnouncement(this.#announcement()));
  }

  /** Announces within a short while, because something that changes often has changed. */
  soon(): void {
    this.#soon ??= setTimeout(() => this.now(), soonMs);
  }

  /** Says good-bye. */
  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#stopListening();
    this.#broker.publish(this.#subject, goodbye);
  }
}
