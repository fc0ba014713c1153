import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { DispatchContext } from '../dispatch-context.ts';
import {
  configureJobsStream,
  ensureJobsStream,
  isLeaderless,
  type StoredTicketRange,
  type QueueSettings,
} from './jobs-stream.ts';
import type { Tier } from '#shared/core/tier.ts';

/** Minimum milliseconds between two checks. */
const checkIntervalMs = 2_000;

/** Maximum milliseconds to wait at the start until JetStream has elected a leader. */
const maxElectionMs = 30_000;
/** Milliseconds between two tries to create the stream at the start. */
const retryPauseMs = 500;

/**
 * Makes sure that a tier's stream of tickets exists while jobs wait, and calls back if its tickets were lost. Tickets are lost when the
 * broker is restarted, or when somebody deletes the stream.
 */
export class TicketStream {
  readonly #broker: Broker;
  readonly #tier: Tier;
  readonly #queue: QueueSettings;
  readonly #log: Logger;
  readonly #onTicketsLost: (tier: Tier) => void;
  readonly #onChecked: (tier: Tier, storedRange: StoredTicketRange) => void;
  #createdAt: string | undefined;
  #nextCheckAt = 0;
  #isChecking = false;
  #isLossSuspected = false;

  /**
   * @param onTicketsLost called when the stream exists and its tickets may have been lost, so that they must be published again
   * @param onChecked called after each check that finds no loss, with the range of the numbers of the tickets that the stream has stored
   */
  constructor(
    { broker, settings, log }: DispatchContext,
    tier: Tier,
    onTicketsLost: (tier: Tier) => void,
    onChecked: (tier: Tier, storedRange: StoredTicketRange) => void,
  ) {
    this.#broker = broker;
    this.#tier = tier;
    this.#queue = settings.queue;
    this.#log = log;
    this.#onTicketsLost = onTicketsLost;
    this.#onChecked = onChecked;
  }

  /**
   * Creates the stream, or updates an existing one to the current settings. Retries for 30 s while a cluster of NATS servers has no leader.
   * @throws if the broker has no JetStream, or refuses the stream
   */
  async prepare(): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      try {
        this.#createdAt = await configureJobsStream(this.#broker, this.#tier, this.#queue);
        return;
      } catch (error) {
        if (!isLeaderless(error) || performance.now() - startedAt > maxElectionMs) throw error;
        this.#log.warn({ tier: this.#tier, err: error }, 'JetStream has no leader yet, trying again');
      }
      await sleep(retryPauseMs);
    }
  }

  /**
   * Checks the stream at once, because its tickets may be lost even if the stream still exists. Calls `onTicketsLost` when the stream
   * exists.
   */
  checkNow(): void {
    this.#isLossSuspected = true;
    this.#nextCheckAt = 0;
    this.maintain(performance.now());
  }

  /** Checks the stream if a check is due. Call it from time to time while jobs wait. */
  maintain(now: number): void {
    if (this.#isChecking || now < this.#nextCheckAt || !this.#broker.connected) return;
    this.#isChecking = true;
    this.#nextCheckAt = now + checkIntervalMs;
    this.#check()
      .catch((error: unknown) => this.#log.error({ err: error }, 'the queue of tickets cannot be made, trying again'))
      .finally(() => {
        this.#isChecking = false;
      });
  }

  async #check(): Promise<void> {
    const createdBefore = this.#createdAt;
    const wasSuspected = this.#isLossSuspected;
    this.#isLossSuspected = false;
    try {
      const storedRange = await ensureJobsStream(this.#broker, this.#tier, this.#queue);
      this.#createdAt = storedRange.createdAt;
      if (wasSuspected || this.#createdAt !== createdBefore) this.#onTicketsLost(this.#tier);
      else this.#onChecked(this.#tier, storedRange);
    } catch (error) {
      this.#isLossSuspected ||= wasSuspected;
      throw error;
    }
  }
}
