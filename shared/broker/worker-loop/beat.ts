import type { Announcement } from '../announcement.ts';
import type { Broker } from '../connect-broker.ts';

/** Milliseconds between two beats. */
const beatMs = 1_000;

/** Announces a worker each second and on change, until it says good-bye. */
export class Beat {
  readonly #broker: Broker;
  readonly #announcement: () => Announcement;
  readonly #timer: NodeJS.Timeout;
  readonly #stopReconnect: () => void;
  readonly #subject: string;

  constructor(broker: Broker, worker: string, announcement: () => Announcement) {
    this.#broker = broker;
    this.#subject = broker.subjects.beat(worker);
    this.#announcement = announcement;
    this.#timer = setInterval(() => this.now(), beatMs);
    this.#stopReconnect = broker.onReconnect(() => this.now());
    this.now();
  }

  /** Beats at once, because something changed. */
  now(): void {
    this.#broker.publish(this.#subject, JSON.stringify(this.#announcement()));
  }

  /** Says good-bye: an empty beat. */
  stop(): void {
    clearInterval(this.#timer);
    this.#stopReconnect();
    this.#broker.publish(this.#subject, '');
  }
}
