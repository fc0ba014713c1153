import type { Announcement } from '../announcement.ts';
import type { Broker } from '../connect-broker.ts';

/** Milliseconds between two beats. */
const beatMs = 1_000;

/** Announces a worker each second, on change and when asked, until it says good-bye. */
export class Beat {
  readonly #broker: Broker;
  readonly #announcement: () => Announcement;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  readonly #subject: string;

  constructor(broker: Broker, worker: string, announcement: () => Announcement) {
    this.#broker = broker;
    this.#subject = broker.subjects.beat(worker);
    this.#announcement = announcement;
    this.#timer = setInterval(() => this.now(), beatMs);
    const rollCalls = broker.subscribe(broker.subjects.rollCall, () => this.now());
    const stopReconnect = broker.onReconnect(() => this.now());
    this.#stopListening = () => {
      rollCalls.unsubscribe();
      stopReconnect();
    };
    this.now();
  }

  /** Beats at once, because something changed. */
  now(): void {
    this.#broker.publish(this.#subject, JSON.stringify(this.#announcement()));
  }

  /** Says good-bye: an empty beat. */
  stop(): void {
    clearInterval(this.#timer);
    this.#stopListening();
    this.#broker.publish(this.#subject, '');
  }
}
