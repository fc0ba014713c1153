import type { Broker } from '../../connection/connect-broker.ts';
import type { StoredTicketRange } from './jobs-stream.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { TicketStream, type TicketStreamOptions } from './ticket-stream.ts';

export interface TicketStreamsOptions extends Pick<TicketStreamOptions, 'queue' | 'log'> {
  /** Called if tickets of a tier were lost and its stream exists again. */
  onGone: (tier: Tier) => void;
  /** Called after any other check, with the range of the tickets that the tier's stream has stored. */
  onChecked: (tier: Tier, held: StoredTicketRange) => void;
}

/** The streams of tickets, one for each tier, so that the broker can keep each tier's workers out of the others. */
export class TicketStreams {
  readonly #streams: ReadonlyMap<Tier, TicketStream>;

  constructor(broker: Broker, { queue, log, onGone, onChecked }: TicketStreamsOptions) {
    this.#streams = new Map(
      tiers.map((tier) => [
        tier,
        new TicketStream(broker, tier, {
          queue,
          log,
          onGone: () => onGone(tier),
          onChecked: (held) => onChecked(tier, held),
        }),
      ]),
    );
  }

  /**
   * Creates the streams, or updates them to these settings.
   * @throws if the broker has no JetStream, or refuses the streams
   */
  async prepare(): Promise<void> {
    await Promise.all(Array.from(this.#streams.values(), (stream) => stream.prepare()));
  }

  checkNow(tier: Tier): void {
    this.#streams.get(tier)?.checkNow();
  }

  checkAllNow(): void {
    for (const stream of this.#streams.values()) stream.checkNow();
  }

  /** Call it from time to time while jobs wait in a tier. */
  maintain(tier: Tier, now: number): void {
    this.#streams.get(tier)?.maintain(now);
  }
}
