import type { Broker } from '../../connection/connect-broker.ts';
import { announceAgain } from '../../contract/heartbeats.ts';
import { workerIdOf, type WorkerAddress } from '../../contract/worker-address.ts';

/** Milliseconds between two requests to one worker. */
const everyMs = 1_000;

/** Milliseconds over which requests to many workers are spread: half of the cluster may have become known at once. */
const spreadMs = 250;

/** Workers that may be asked at a time; the others are asked at a later beat of theirs. */
const maxAsked = 10_000;

/** Asks workers whose announcement this ingress has not got to announce themselves once more, each once a second at most. */
export class AnnouncementRequests {
  readonly #broker: Broker;
  /** By id; asked now or lately. */
  readonly #asked = new Map<string, NodeJS.Timeout>();

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** @param isWanted whether it is still wanted when it is to be sent: another ingress may have asked meanwhile */
  ask(worker: WorkerAddress, isWanted: () => boolean): void {
    const id = workerIdOf(worker);
    if (this.#asked.has(id) || this.#asked.size >= maxAsked) return;
    const send = (): void => {
      if (isWanted()) this.#broker.publish(this.#broker.subjects.retransmit(worker), announceAgain);
      this.#asked.set(
        id,
        setTimeout(() => this.#asked.delete(id), everyMs),
      );
    };
    this.#asked.set(id, setTimeout(send, Math.random() * spreadMs));
  }

  close(): void {
    for (const timer of this.#asked.values()) clearTimeout(timer);
    this.#asked.clear();
  }
}
