import type { Broker } from '../../connection/connect-broker.ts';
import type { StoredTicketRange } from './jobs-stream.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { TicketStream, type TicketStreamOptions } from './ticket-stream.ts';

export interface TicketStreamsOptions extends Pick<TicketStreamOptions, 'queue' | 'log'> {
  /** Called when a tier's stream exists and its tickets may have been lost, so that they must be published again. */
  onTicketsLost: (tier: Tier) => void;
  /** Called after each check that finds no loss, with the range of the numbers of the tickets that the tier's stream has stored. */
  onChecked: (tier: Tier, storedRange: StoredTicketRange) => void;
}

/** The streams of tickets. Each tier has its own, so that the broker can keep the workers of one tier from the tickets of the others. */
export class TicketStreams {
  readonly #streams: ReadonlyMap<Tier, TicketStream>;

  constructor(broker: Broker, { queue, log, onTicketsLost, onChecked }: TicketStreamsOptions) {
    this.#streams = new Map(
      tiers.map((tier) => [
        tier,
        new TicketStream(broker, tier, {
          queue,
          log,
          onTicketsLost: () => onTicketsLost(tier),
          onChecked: (storedRange) => onChecked(tier, storedRange),
        }),
      ]),
    );
  }

  /**
   * Creates the streams, or updates existing ones to the current settings.
   * @throws if the broker has no JetStream, or refuses the streams
   */
  async prepare(): Promise<void> {
    await Promise.all(Array.from(this.#streams.values(), (stream) => stream.prepare()));
  }

  /** See `TicketStream`. */
  checkNow(tier: Tier): void {
    this.#streams.get(tier)?.checkNow();
  }

  /** Checks the streams of all tiers at once, see `TicketStream`. */
  checkAllNow(): void {
    for (const stream of this.#streams.values()) stream.checkNow();
  }

  /** Checks a tier's stream if a check is due. Call it regularly while jobs wait in the tier. */
  maintain(tier: Tier, now: number): void {
    this.#streams.get(tier)?.maintain(now);
  }
}
