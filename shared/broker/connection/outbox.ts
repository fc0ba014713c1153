import type { MsgHdrs, NatsConnection, Payload, PublishOptions } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';

export interface Message {
  subject: string;
  payload: Payload;
  reply?: string | undefined;
  headers?: MsgHdrs | undefined;
}

/** Milliseconds that an unhurried message waits for another message. */
const maxWaitMs = 5;

/**
 * Collects the messages that are published within one turn of the event loop and passes them to the connection together, in order. The
 * library alone writes once for every event that publishes something. Under load, many writes become one here, and the broker and the
 * subscribers wake up once for all of them. A message waits at most until the end of the turn, an unhurried one a few milliseconds. A
 * message sent ahead gets a write of its own.
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

  /** Passes a message to the connection at once, before the collected messages. */
  sendImmediately(message: Message): void {
    if (!this.#nc.isClosed()) this.#publish(message);
  }

  /** Adds a message that may wait. It travels with the next message, or alone within a few milliseconds. */
  addDeferred(message: Message): void {
    this.#held.push(message);
    if (!this.#isDue) this.#timer ??= setTimeout(() => this.send(), maxWaitMs);
  }

  /** Passes the collected messages to the connection, without waiting for the end of the turn. */
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
