import type { MsgHdrs, NatsConnection, Payload, PublishOptions } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';

/** What is published. */
export interface Message {
  subject: string;
  payload: Payload;
  /** Where it is answered. */
  reply?: string | undefined;
  headers?: MsgHdrs | undefined;
}

/** Milliseconds that an unhurried message waits for another one. */
const maxWaitMs = 5;

/**
 * Holds what is published within one turn of the event loop and hands it to the connection together, in order. The
 * library alone writes once for every event that publishes something; under load, many writes become one here, and the
 * broker and the subscribers wake up once for all of them. A message waits for at most the rest of the turn, or, unhurried,
 * for a few milliseconds; a message that is sent ahead gets a write of its own.
 * See docs/decisions/0006-outbox-priorities.md.
 */
export class Outbox {
  readonly #nc: NatsConnection;
  readonly #log: Logger;
  #held: Message[] = [];
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(nc: NatsConnection, log: Logger) {
    this.#nc = nc;
    this.#log = log;
  }

  add(message: Message): void {
    this.#held.push(message);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.send());
  }

  /** Hands over a message at once: one that may come before any that is held. */
  sendAhead(message: Message): void {
    if (!this.#nc.isClosed()) this.#publish(message);
  }

  /** Adds a message that nobody waits for: it travels with the next one, or within a few milliseconds by itself. */
  addUnhurried(message: Message): void {
    this.#held.push(message);
    if (!this.#isDue) this.#timer ??= setTimeout(() => this.send(), maxWaitMs);
  }

  /** Hands over what is held, without waiting for the end of the turn. */
  send(): void {
    const messages = this.#held;
    this.#held = [];
    this.#isDue = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#nc.isClosed()) return;
    for (const message of messages) this.#publish(message);
  }

  #publish(message: Message): void {
    const { subject, payload } = message;
    try {
      this.#nc.publish(subject, payload, optionsOf(message));
    } catch (error) {
      this.#log.error({ err: error, subject }, 'a message could not be published');
    }
  }
}

function optionsOf({ reply, headers }: Message): PublishOptions | undefined {
  if (headers) return reply === undefined ? { headers } : { reply, headers };
  return reply === undefined ? undefined : { reply };
}
