import { encodeAnnouncement, goodbye, type Announcement } from '../contract/announcement.ts';
import type { Broker } from '../connection/connect-broker.ts';
import {
  minAnnounceIntervalMs,
  decodeAnnounceRequest,
  computeDigest,
  encodeShortHeartbeat,
  announceSpreadMs,
} from '../contract/heartbeats.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';

/** Milliseconds between two short heartbeats. */
const heartbeatMs = 1_000;

/**
 * The number of fixed moments of a second at which workers send short heartbeats, by their clocks. Heartbeats that are sent at the same
 * moment share reads and writes, and cost a dispatcher a third of the time of separate heartbeats. Clocks that disagree only reduce this
 * gain.
 */
const heartbeatMoments = 20;

/** Milliseconds that a heartbeat about freed slots waits for further changes. A dispatcher may request a longer wait. */
const defaultSoonMs = 50;

/**
 * Announces a worker when `announce` is called and when a dispatcher requests it. Sends a short heartbeat each second, and `goodbye` at the
 * end.
 */
export class Heartbeat {
  readonly #broker: Broker;
  readonly #createAnnouncement: () => Announcement;
  readonly #countBusySlots: () => number;
  readonly #stopListening: () => void;
  /** Milliseconds after each full second at which this worker sends its heartbeat. */
  readonly #momentMs = Math.floor(Math.random() * heartbeatMoments) * (heartbeatMs / heartbeatMoments);
  readonly #subject: string;
  #nextTimer: NodeJS.Timeout;
  #soonTimer: NodeJS.Timeout | undefined;
  #announceTimer: NodeJS.Timeout | undefined;
  #digest = '';
  #requestHandledAt = Number.NEGATIVE_INFINITY;
  #soonMs = defaultSoonMs;

  /** @param countBusySlots returns the number of slots in use. Any other change of the announcement needs a call of `announce` */
  constructor(
    broker: Broker,
    worker: WorkerAddress,
    createAnnouncement: () => Announcement,
    countBusySlots: () => number,
  ) {
    this.#broker = broker;
    this.#subject = broker.subjects.heartbeat(worker);
    this.#createAnnouncement = createAnnouncement;
    this.#countBusySlots = countBusySlots;
    this.#nextTimer = this.#schedule();
    const announceRequests = broker.subscribe(broker.subjects.announceRequest, ({ data }) => this.#onRequest(data));
    const stopReconnect = broker.onReconnect(() => this.#sendShort());
    this.#stopListening = () => {
      announceRequests.unsubscribe();
      stopReconnect();
    };
    this.announce();
  }

  /** Sends the announcement at once. */
  announce(): void {
    clearTimeout(this.#soonTimer);
    clearTimeout(this.#announceTimer);
    this.#soonTimer = this.#announceTimer = undefined;
    const announcement = this.#createAnnouncement();
    this.#digest = computeDigest(announcement);
    this.#broker.publish(this.#subject, encodeAnnouncement({ ...announcement, digest: this.#digest }));
  }

  /** Sends a short heartbeat soon, because fewer slots are busy. */
  sendShortSoon(): void {
    this.#soonTimer ??= setTimeout(() => this.#sendShort(), this.#soonMs);
  }

  /** Sends the announcement within a moment, because a dispatcher has missed the last one. Sends it at most four times a second. */
  announceSoon(): void {
    if (this.#announceTimer) return;
    const waitMs = Math.max(
      Math.random() * announceSpreadMs,
      this.#requestHandledAt + minAnnounceIntervalMs - performance.now(),
    );
    this.#announceTimer = setTimeout(() => {
      this.#requestHandledAt = performance.now();
      this.announce();
    }, waitMs);
  }

  /** Sends `goodbye`, and nothing afterwards. */
  stop(): void {
    clearTimeout(this.#nextTimer);
    clearTimeout(this.#soonTimer);
    clearTimeout(this.#announceTimer);
    this.#stopListening();
    this.#broker.publish(this.#subject, goodbye);
  }

  /**
   * Schedules the next heartbeat for this worker's moment of the second. The heartbeat is sent within 1.25 seconds, even if the clock is
   * changed.
   */
  #schedule(): NodeJS.Timeout {
    const sinceMomentMs = (Date.now() + heartbeatMs - this.#momentMs) % heartbeatMs;
    const untilMomentMs = heartbeatMs - sinceMomentMs;
    const delayMs = untilMomentMs < heartbeatMs / 4 ? untilMomentMs + heartbeatMs : untilMomentMs;
    return setTimeout(() => {
      this.#nextTimer = this.#schedule();
      this.#sendShort();
    }, delayMs);
  }

  #sendShort(): void {
    clearTimeout(this.#soonTimer);
    this.#soonTimer = undefined;
    this.#broker.publish(this.#subject, encodeShortHeartbeat({ digest: this.#digest, busy: this.#countBusySlots() }));
  }

  #onRequest(payload: Uint8Array): void {
    const request = decodeAnnounceRequest(payload);
    if (request?.kind === 'again') this.announceSoon();
    if (request?.kind === 'delay') this.#soonMs = Math.max(defaultSoonMs, request.soonMs);
  }
}
