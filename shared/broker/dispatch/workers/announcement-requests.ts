import type { Broker } from '../../connection/connect-broker.ts';
import { announceAgainPayload } from '../../contract/heartbeats.ts';
import { formatAddress, type WorkerAddress } from '../../contract/worker-address.ts';

/** Minimum milliseconds between two requests to a worker. */
const minIntervalMs = 1_000;

/** Maximum milliseconds of the random pause before a request, because half of the cluster may need requests at once. */
const spreadMs = 250;

/** Maximum workers with a request under way. Other workers get a request after a later heartbeat. */
const maxPending = 10_000;

/** Requests announcements that this dispatcher has missed, at most once a second from each worker. */
export class AnnouncementRequests {
  readonly #broker: Broker;
  /** The timers of requests that will be sent, or were just sent, by the worker's address. */
  readonly #pending = new Map<string, NodeJS.Timeout>();

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /**
   * Requests a worker's announcement after a short random pause.
   * @param isWanted called after the pause; returns whether the announcement is still missing. Another dispatcher may have requested it
   * meanwhile
   */
  request(worker: WorkerAddress, isWanted: () => boolean): void {
    const address = formatAddress(worker);
    if (this.#pending.has(address) || this.#pending.size >= maxPending) return;
    const send = (): void => {
      if (isWanted()) this.#broker.publish(this.#broker.subjects.retransmit(worker), announceAgainPayload);
      this.#pending.set(
        address,
        setTimeout(() => this.#pending.delete(address), minIntervalMs),
      );
    };
    this.#pending.set(address, setTimeout(send, Math.random() * spreadMs));
  }

  close(): void {
    for (const timer of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
  }
}
