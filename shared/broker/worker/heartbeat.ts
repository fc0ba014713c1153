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

const heartbeatMs = 1_000;

/**
 * Number of fixed moments of a second at which workers send short heartbeats, by their clocks. Heartbeats of one moment share reads and
 * writes. They cost a dispatcher a third of the time that as many separate heartbeats cost. If clocks disagree, only this gain is lost.
 */
const heartbeatMoments = 20;

/** Milliseconds that a heartbeat after a small change waits for further changes. A dispatcher may request a longer wait. */
const defaultSoonMs = 50;

/** Announces a worker on change and on request, and sends a short heartbeat each second. Sends `goodbye` at the end. */
export class Heartbeat {
  readonly #broker: Broker;
  readonly #announcement: () => Announcement;
  readonly #busy: () => number;
  readonly #stopListening: () => void;
  /** Milliseconds after the full second at which this worker sends heartbeats. */
  readonly #moment = Math.floor(Math.random() * heartbeatMoments) * (heartbeatMs / heartbeatMoments);
  readonly #subject: string;
  #next: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #digest = '';
  #askedAt = Number.NEGATIVE_INFINITY;
  #soonMs = defaultSoonMs;

  /** @param busy returns the slots in use, the only part of the announcement that changes without a call of `now` */
  constructor(broker: Broker, worker: WorkerAddress, announcement: () => Announcement, busy: () => number) {
    this.#broker = broker;
    this.#subject = broker.subjects.heartbeat(worker);
    this.#announcement = announcement;
    this.#busy = busy;
    this.#next = this.#schedule();
    const announceRequests = broker.subscribe(broker.subjects.announceRequest, ({ data }) => this.#onRequest(data));
    const stopReconnect = broker.onReconnect(() => this.#beat());
    this.#stopListening = () => {
      announceRequests.unsubscribe();
      stopReconnect();
    };
    this.now();
  }

  now(): void {
    clearTimeout(this.#soon);
    clearTimeout(this.#again);
    this.#soon = this.#again = undefined;
    const announcement = this.#announcement();
    this.#digest = computeDigest(announcement);
    this.#broker.publish(this.#subject, encodeAnnouncement({ ...announcement, digest: this.#digest }));
  }

  /** Sends a heartbeat soon because fewer slots are busy. */
  sendSoon(): void {
    this.#soon ??= setTimeout(() => this.#beat(), this.#soonMs);
  }

  /** Announces the worker within a moment because a dispatcher has missed the last announcement; four times a second at most. */
  again(): void {
    if (this.#again) return;
    const waitMs = Math.max(
      Math.random() * announceSpreadMs,
      this.#askedAt + minAnnounceIntervalMs - performance.now(),
    );
    this.#again = setTimeout(() => {
      this.#askedAt = performance.now();
      this.now();
    }, waitMs);
  }

  stop(): void {
    clearTimeout(this.#next);
    clearTimeout(this.#soon);
    clearTimeout(this.#again);
    this.#stopListening();
    this.#broker.publish(this.#subject, goodbye);
  }

  /** Schedules the next heartbeat for its moment of the second. It is sent within 1.25 seconds, even if the clock is changed. */
  #schedule(): NodeJS.Timeout {
    const sinceMs = (Date.now() + heartbeatMs - this.#moment) % heartbeatMs;
    const untilMs = heartbeatMs - sinceMs;
    const inMs = untilMs < heartbeatMs / 4 ? untilMs + heartbeatMs : untilMs;
    return setTimeout(() => {
      this.#next = this.#schedule();
      this.#beat();
    }, inMs);
  }

  #beat(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#broker.publish(this.#subject, encodeShortHeartbeat({ digest: this.#digest, busy: this.#busy() }));
  }

  #onRequest(payload: Uint8Array): void {
    const request = decodeAnnounceRequest(payload);
    if (request?.kind === 'again') this.again();
    if (request?.kind === 'delay') this.#soonMs = Math.max(defaultSoonMs, request.soonMs);
  }
}
