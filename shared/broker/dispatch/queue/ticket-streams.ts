import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { QueueSettings } from './jobs-stream.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { TicketStream } from './ticket-stream.ts';

/** The streams of tickets, one for each tier, so that the broker can keep each tier's workers out of the others. */
export class TicketStreams {
  readonly #streams: ReadonlyMap<Tier, TicketStream>;

  /** @param onGone called when tickets of a tier are gone and its stream stands again */
  constructor(broker: Broker, queue: QueueSettings, log: Logger, onGone: (tier: Tier) => void) {
    this.#streams = new Map(
      tiers.map((tier) => [tier, new TicketStream(broker, tier, queue, log, () => onGone(tier))]),
    );
  }

  /** Makes them, or brings them to these settings. @throws when the broker has no JetStream or refuses */
  async prepare(): Promise<void> {
    await Promise.all(Array.from(this.#streams.values(), (stream) => stream.prepare()));
  }

  /** Tickets of a tier may be gone: checks at once. */
  suspect(tier: Tier): void {
    this.#streams.get(tier)?.suspect();
  }

  /** Any tickets may be gone: checks at once. */
  suspectAll(): void {
    for (const stream of this.#streams.values()) stream.suspect();
  }

  /** Call from time to time while jobs wait in a tier. */
  maintain(tier: Tier, now: number): void {
    this.#streams.get(tier)?.maintain(now);
  }
}
