import type { NatsConnection, Payload } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';

interface Letter {
  subject: string;
  payload: Payload;
  reply: string | undefined;
}

/** Milliseconds that a message without hurry waits for one that has. */
const patienceMs = 5;

/**
 * Holds what is published within one turn of the event loop and hands it to the connection together, in order. The
 * library alone writes once for every event that publishes something; under load, many writes become one here, and the
 * broker and whoever listens wake up once for all of them. A message waits for at most the rest of the turn, or, without
 * hurry, for a few milliseconds; few are worth a write of their own, ahead of the others.
 */
export class Outbox {
  readonly #nc: NatsConnection;
  readonly #log: Logger;
  #held: Letter[] = [];
  #isDue = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(nc: NatsConnection, log: Logger) {
    this.#nc = nc;
    this.#log = log;
  }

  add(subject: string, payload: Payload, reply: string | undefined): void {
    this.#held.push({ subject, payload, reply });
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.send());
  }

  /** Hands over a message at once: one that may come before any that is held. */
  sendAhead(subject: string, payload: Payload): void {
    if (!this.#nc.isClosed()) this.#publish({ subject, payload, reply: undefined });
  }

  /** Adds a message that nobody waits for: it travels with the next one that somebody does, or soon by itself. */
  addUnhurried(subject: string, payload: Payload): void {
    this.#held.push({ subject, payload, reply: undefined });
    if (!this.#isDue) this.#patience ??= setTimeout(() => this.send(), patienceMs);
  }

  /** Hands over what is held, without waiting for the end of the turn. */
  send(): void {
    const letters = this.#held;
    this.#held = [];
    this.#isDue = false;
    clearTimeout(this.#patience);
    this.#patience = undefined;
    if (this.#nc.isClosed()) return;
    for (const letter of letters) this.#publish(letter);
  }

  #publish({ subject, payload, reply }: Letter): void {
    try {
      this.#nc.publish(subject, payload, reply === undefined ? undefined : { reply });
    } catch (error) {
      this.#log.error({ err: error, subject }, 'a message could not be published');
    }
  }
}
