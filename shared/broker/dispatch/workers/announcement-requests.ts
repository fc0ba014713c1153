import type { Broker } from '../../connection/connect-broker.ts';
import { announceAgain } from '../../contract/heartbeats.ts';
import { formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';

const everyMs = 1_000;

/** Milliseconds over which requests to many workers are spread, because half of the cluster may have become known at once. */
const spreadMs = 250;

/** Maximum workers with a request under way; other workers get a request after a later heartbeat. */
const maxAsked = 10_000;

/** Requests the announcements that this dispatcher has missed from their workers, at most once a second from each. */
export class AnnouncementRequests {
  readonly #broker: Broker;
  /** Timers of requests that will be sent, or were sent lately, by worker id. */
  readonly #pending = new Map<string, NodeJS.Timeout>();

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /**
   * Requests a worker's announcement.
   * @param isWanted returns whether the announcement is still missing when the request is sent, because another dispatcher may have
   * requested it meanwhile
   */
  ask(worker: WorkerAddress, isWanted: () => boolean): void {
    const id = formatWorkerId(worker);
    if (this.#pending.has(id) || this.#pending.size >= maxAsked) return;
    const send = (): void => {
      if (isWanted()) this.#broker.publish(this.#broker.subjects.retransmit(worker), announceAgain);
      this.#pending.set(
        id,
        setTimeout(() => this.#pending.delete(id), everyMs),
      );
    };
    this.#pending.set(id, setTimeout(send, Math.random() * spreadMs));
  }

  close(): void {
    for (const timer of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
  }
}
