import type { DispatchContext } from '../dispatch-context.ts';
import type { StoredTicketRange } from './jobs-stream.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { TicketStream } from './ticket-stream.ts';

/** The streams of tickets. Each tier has its own, so that the broker can keep the workers of one tier from the tickets of the others. */
export class TicketStreams {
  readonly #streams: ReadonlyMap<Tier, TicketStream>;

  /** The listeners are those of `TicketStream`. */
  constructor(
    context: DispatchContext,
    onTicketsLost: (tier: Tier) => void,
    onChecked: (tier: Tier, storedRange: StoredTicketRange) => void,
  ) {
    this.#streams = new Map(tiers.map((tier) => [tier, new TicketStream(context, tier, onTicketsLost, onChecked)]));
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
