import type { NatsConnection, Payload } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';

interface Letter {
  subject: string;
  payload: Payload;
  reply: string | undefined;
}

/**
 * Holds what is published within one turn of the event loop and hands it to the connection together, in order. The
 * library alone writes once for every event that publishes something; under load, many writes become one here, and the
 * broker and whoever listens wake up once for all of them. A message waits for at most the rest of the turn.
 */
export class Outbox {
  readonly #nc: NatsConnection;
  readonly #log: Logger;
  #held: Letter[] = [];

  constructor(nc: NatsConnection, log: Logger) {
    this.#nc = nc;
    this.#log = log;
  }

  add(subject: string, payload: Payload, reply: string | undefined): void {
    if (this.#held.length === 0) setImmediate(() => this.send());
    this.#held.push({ subject, payload, reply });
  }

  /** Hands over what is held, without waiting for the end of the turn. */
  send(): void {
    const letters = this.#held;
    this.#held = [];
    if (this.#nc.isClosed()) return;
    for (const { subject, payload, reply } of letters) {
      try {
        this.#nc.publish(subject, payload, reply === undefined ? undefined : { reply });
      } catch (error) {
        this.#log.error({ err: error, subject }, 'a message could not be published');
      }
    }
  }
}
