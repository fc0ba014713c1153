import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import {
  configureJobsStream,
  ensureJobsStream,
  isLeaderless,
  type StoredTicketRange,
  type QueueSettings,
} from './jobs-stream.ts';
import type { Tier } from '#shared/core/tier.ts';

const checkMs = 2_000;

/** Milliseconds that JetStream has to elect a leader at the start. */
const leaderMs = 30_000;
/** Milliseconds between two tries. */
const againMs = 500;

export interface TicketStreamOptions {
  queue: QueueSettings;
  log: Logger;
  /** Called if the tickets in the stream were lost and the stream exists again. */
  onGone: () => void;
  /** Called after any other check, with the range of the tickets that the stream has stored. */
  onChecked: (held: StoredTicketRange) => void;
}

/**
 * Keeps a tier's stream of tickets in existence while jobs wait, and calls back if its tickets were lost. That happens when the broker is
 * restarted, or when somebody deletes the stream.
 */
export class TicketStream {
  readonly #broker: Broker;
  readonly #tier: Tier;
  readonly #queue: QueueSettings;
  readonly #log: Logger;
  readonly #onGone: () => void;
  readonly #onChecked: (held: StoredTicketRange) => void;
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
   * Creates the stream, or updates it to these settings. Retries for 30 s while a cluster of NATS servers has no leader.
   * @throws if the broker has no JetStream, or refuses the stream
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

  /** Checks at once, because tickets may be lost even if the stream is the same. Calls `onGone` when the stream exists. */
  checkNow(): void {
    this.#isSuspected = true;
    this.#nextCheckAt = 0;
    this.maintain(performance.now());
  }

  /** Checks the stream if a check is due. Call it from time to time while jobs wait. */
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
