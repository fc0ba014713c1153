import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import { configureJobsStream, ensureJobsStream, type QueueSettings } from './jobs-stream.ts';
import type { Tier } from '#shared/core/tier.ts';

/** Milliseconds between two looks at the stream while jobs wait in it. */
const lookMs = 2_000;

/**
 * Sees to it that a tier's stream of tickets exists while jobs wait, and tells when tickets that were in it are gone: the
 * broker was restarted, or somebody deleted the stream.
 */
export class TicketStream {
  readonly #broker: Broker;
  readonly #tier: Tier;
  readonly #queue: QueueSettings;
  readonly #log: Logger;
  readonly #onGone: () => void;
  #created: string | undefined;
  #nextLook = 0;
  #looking = false;
  #suspected = false;

  constructor(broker: Broker, tier: Tier, queue: QueueSettings, log: Logger, onGone: () => void) {
    this.#broker = broker;
    this.#tier = tier;
    this.#queue = queue;
    this.#log = log;
    this.#onGone = onGone;
  }

  /** Makes the stream, or brings it to these settings. @throws when the broker has no JetStream or refuses */
  async prepare(): Promise<void> {
    this.#created = await configureJobsStream(this.#broker, this.#tier, this.#queue);
  }

  /** Tickets may be gone, whether the stream is the same or not: looks at once, and says so when the stream stands. */
  suspect(): void {
    this.#suspected = true;
    this.#nextLook = 0;
    this.maintain(performance.now());
  }

  /** Call from time to time while jobs wait. */
  maintain(now: number): void {
    if (this.#looking || now < this.#nextLook || !this.#broker.connected) return;
    this.#looking = true;
    this.#nextLook = now + lookMs;
    this.#look()
      .catch((error: unknown) => this.#log.error({ err: error }, 'the queue of tickets cannot be made, trying again'))
      .finally(() => {
        this.#looking = false;
      });
  }

  async #look(): Promise<void> {
    const before = this.#created;
    const suspected = this.#suspected;
    this.#suspected = false;
    try {
      this.#created = await ensureJobsStream(this.#broker, this.#tier, this.#queue);
    } catch (error) {
      this.#suspected ||= suspected;
      throw error;
    }
    if (suspected || this.#created !== before) this.#onGone();
  }
}
