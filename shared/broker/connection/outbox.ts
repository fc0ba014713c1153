import type { MsgHdrs, NatsConnection, Payload, PublishOptions } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';

export interface Message {
  subject: string;
  payload: Payload;
  reply?: string | undefined;
  headers?: MsgHdrs | undefined;
}

/** Maximum milliseconds that an unhurried message waits to be sent together with another message. */
const maxWaitMs = 5;

/**
 * Collects the messages that are published within one turn of the event loop and passes them to the connection together, in order. Without
 * the outbox, the library would write to the socket for every event that publishes something. Under load, the outbox turns many writes into
 * one, and the broker and the subscribers wake up once for all of these messages. A message waits at most until the end of the turn, an
 * unhurried message a few milliseconds. A message that is sent immediately gets a write of its own.
 * See docs/decisions/0006-outbox-priorities.md.
 */
export class Outbox {
  readonly #nc: NatsConnection;
  readonly #log: Logger;
  #messages: Message[] = [];
  #isSendScheduled = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(nc: NatsConnection, log: Logger) {
    this.#nc = nc;
    this.#log = log;
  }

  /** Adds a message, which is sent at the end of this turn of the event loop. */
  add(message: Message): void {
    this.#messages.push(message);
    if (this.#isSendScheduled) return;
    this.#isSendScheduled = true;
    setImmediate(() => this.send());
  }

  /** Passes a message to the connection at once, before the collected messages. */
  sendImmediately(message: Message): void {
    if (!this.#nc.isClosed()) this.#publish(message);
  }

  /** Adds a message that is not urgent. It is sent with the next message, or alone within a few milliseconds. */
  addUnhurried(message: Message): void {
    this.#messages.push(message);
    if (!this.#isSendScheduled) this.#timer ??= setTimeout(() => this.send(), maxWaitMs);
  }

  /** Passes the collected messages to the connection, without waiting for the end of the turn. */
  send(): void {
    const messages = this.#messages;
    this.#messages = [];
    this.#isSendScheduled = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#nc.isClosed()) return;
    for (const message of messages) this.#publish(message);
  }

  #publish(message: Message): void {
    const { subject, payload } = message;
    try {
      this.#nc.publish(subject, payload, toPublishOptions(message));
    } catch (error) {
      this.#log.error({ err: error, subject }, 'a message could not be published');
    }
  }
}

function toPublishOptions({ reply, headers }: Message): PublishOptions | undefined {
  if (headers) return reply === undefined ? { headers } : { reply, headers };
  return reply === undefined ? undefined : { reply };
}
