import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import {
  configureJobsStream,
  ensureJobsStream,
  isLeaderless,
  type HeldTickets,
  type QueueSettings,
} from './jobs-stream.ts';
import type { Tier } from '#shared/core/tier.ts';

/** Milliseconds between two checks of the stream while jobs wait in it. */
const checkMs = 2_000;

/** Milliseconds for JetStream to choose a leader at the start, and between two tries. */
const leaderMs = 30_000;
const againMs = 500;

export interface TicketStreamOptions {
  queue: QueueSettings;
  log: Logger;
  /** Called when the tickets that were in the stream are gone, and it stands again. */
  onGone: () => void;
  /** Called after any other check, with the tickets that the stream has. */
  onChecked: (held: HeldTickets) => void;
}

/**
 * Keeps a tier's stream of tickets in existence while jobs wait, and calls back when the tickets that were in it are gone: the
 * broker was restarted, or somebody deleted the stream.
 */
export class TicketStream {
  readonly #broker: Broker;
  readonly #tier: Tier;
  readonly #queue: QueueSettings;
  readonly #log: Logger;
  readonly #onGone: () => void;
  readonly #onChecked: (held: HeldTickets) => void;
  #created: string | undefined;
  #nextCheckAt = 0;
  #isChecking = false;
  #isSuspected = false;

  constructor(broker: Broker, tier: Tier, { queue, log, onGone, onChecked }: TicketStreamOptions) {
    this.#broker = broker;
    this.#tier = tier;
    this.#queue = queue;
    this.#log = log;
    this.#onGone = onGone;
    this.#onChecked = onChecked;
  }

  /**
   * Makes the stream, or brings it to these settings. A cluster of NATS servers that has no leader yet is tried again for 30 s.
   * @throws when the broker has no JetStream or refuses
   */
  async prepare(): Promise<void> {
    const begun = performance.now();
    for (;;) {
      try {
        this.#created = await configureJobsStream(this.#broker, this.#tier, this.#queue);
        return;
      } catch (error) {
        if (!isLeaderless(error) || performance.now() - begun > leaderMs) throw error;
        this.#log.warn({ tier: this.#tier, err: error }, 'JetStream has no leader yet, trying again');
      }
      await sleep(againMs);
    }
  }

  /** Tickets may be gone, whether the stream is the same or not: checks at once, and calls back when the stream stands. */
  suspect(): void {
    this.#isSuspected = true;
    this.#nextCheckAt = 0;
    this.maintain(performance.now());
  }

  /** Call from time to time while jobs wait. */
  maintain(now: number): void {
    if (this.#isChecking || now < this.#nextCheckAt || !this.#broker.connected) return;
    this.#isChecking = true;
    this.#nextCheckAt = now + checkMs;
    this.#check()
      .catch((error: unknown) => this.#log.error({ err: error }, 'the queue of tickets cannot be made, trying again'))
      .finally(() => {
        this.#isChecking = false;
      });
  }

  async #check(): Promise<void> {
    const before = this.#created;
    const suspected = this.#isSuspected;
    this.#isSuspected = false;
    try {
      const held = await ensureJobsStream(this.#broker, this.#tier, this.#queue);
      this.#created = held.created;
      if (suspected || this.#created !== before) this.#onGone();
      else this.#onChecked(held);
    } catch (error) {
      this.#isSuspected ||= suspected;
      throw error;
    }
  }
}
