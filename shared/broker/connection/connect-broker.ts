import {
  AuthorizationError,
  UserAuthenticationExpiredError,
  createInbox,
  errors,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Payload,
  type Subscription,
} from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import { connectionOptions, type BrokerAccess } from './connection-options.ts';
import type { Credential, Role } from './credential.ts';
import { openConnection } from './open-connection.ts';
import { Outbox } from './outbox.ts';
import { ReconnectPace } from './reconnect-pace.ts';
import { createSubjects, type Subjects } from '../contract/subjects.ts';
import { openOwner } from '../contract/worker-address.ts';

/** Status of a message that the server sends when a subject has no subscriber. */
export const noResponders = 503;

export interface BrokerOptions extends BrokerAccess {
  /** Shown by the NATS server for this connection. */
  name: string;
  /** First token of every subject, unless the credential names another. */
  prefix: string;
  log: Logger;
  /** Milliseconds for which the first connection is tried. Default 30 s. */
  waitMs?: number;
}

/** Milliseconds for the first connection, so that the parts of a cluster may start in any order. */
const firstConnectMs = 30_000;

/** Milliseconds in which a healthy server answers. */
const promptMs = 1_000;

/** Milliseconds for the last messages to reach the server when the connection is closed. */
const lastWordsMs = 1_000;

/**
 * The connection to NATS: the library's, plus whether it stands right now and a call when it does again. It reconnects for ever.
 * What is published while it is down is lost; `onReconnect` is the place to publish it again.
 */
export class Broker {
  readonly nc: NatsConnection;
  readonly subjects: Subjects;
  readonly #pace: ReconnectPace;
  readonly #log: Logger;
  readonly #outbox: Outbox;
  readonly #credential: Credential | undefined;
  readonly #inboxPrefix: string | undefined;
  readonly #reconnectListeners = new Set<() => void>();
  #disconnectedSince: number | undefined;
  #connectedSince = performance.now();

  constructor(
    nc: NatsConnection,
    pace: ReconnectPace,
    { prefix, log, credential, inboxPrefix }: Omit<BrokerOptions, 'name' | 'url'> & { inboxPrefix: string | undefined },
  ) {
    this.nc = nc;
    this.#pace = pace;
    this.subjects = createSubjects(credential?.prefix ?? prefix);
    this.#credential = credential;
    this.#inboxPrefix = inboxPrefix;
    this.#log = log;
    this.#outbox = new Outbox(nc, log);
    this.#followStatus().catch((error: unknown) => log.error({ err: error }, 'following the broker connection failed'));
  }

  /**
   * The owner of the credential that this process connects with; `open` without a credential.
   * @throws ConfigError when its credential is for another role
   */
  ownerAs(role: Role): string {
    if (!this.#credential) return openOwner;
    const { role: given, owner } = this.#credential;
    if (given !== role) throw new ConfigError(`the credential ${owner} is for ${given}, not for ${role}`);
    return owner;
  }

  get connected(): boolean {
    return this.#disconnectedSince === undefined;
  }

  /** When the connection was lost, while it is; this and the next are times of `performance.now()`. */
  get disconnectedSince(): number | undefined {
    return this.#disconnectedSince;
  }

  /** When the connection was last made. */
  get connectedSince(): number {
    return this.#connectedSince;
  }

  /** Calls back whenever a lost connection stands again, subscriptions included. @returns the call that ends it */
  onReconnect(listener: () => void): () => void {
    this.#reconnectListeners.add(listener);
    return () => this.#reconnectListeners.delete(listener);
  }

  /** Sends a message at the end of this turn of the event loop, behind those published before. */
  publish(subject: string, payload: Payload, reply?: string, headers?: MsgHdrs): void {
    this.#outbox.add({ subject, payload, reply, headers });
  }

  /** Sends a message at once, ahead of those that were published before and wait. */
  publishAhead(subject: string, payload: Payload, reply?: string, headers?: MsgHdrs): void {
    this.#outbox.sendAhead({ subject, payload, reply, headers });
  }

  /** Sends a message that nobody waits for: with the next one, or within a few milliseconds. */
  publishUnhurried(subject: string, payload: Payload, reply?: string, headers?: MsgHdrs): void {
    this.#outbox.addUnhurried({ subject, payload, reply, headers });
  }

  /** A new subject for answers, which no worker may publish to. */
  createInbox(): string {
    return createInbox(this.#inboxPrefix);
  }

  /** Resolves when the server has everything that was published so far. Never while there is no connection. */
  async flush(): Promise<void> {
    this.#outbox.send();
    await this.nc.flush();
  }

  /** Milliseconds that the server took to answer just now; undefined when it does not within a second. */
  async roundTripMs(): Promise<number | undefined> {
    if (!this.connected) return undefined;
    const startedAt = performance.now();
    const answered = this.nc.flush().then(
      () => performance.now() - startedAt,
      () => undefined,
    );
    return Promise.race([answered, sleep(promptMs, undefined, { ref: false })]);
  }

  /** Sends what is held and ends the connection; waits a second at most for the server to have it. */
  async close(): Promise<void> {
    if (this.connected) {
      const sent = this.flush().catch((error: unknown) => this.#log.warn({ err: error }, 'last messages may be lost'));
      await Promise.race([sent, sleep(lastWordsMs, undefined, { ref: false })]);
    }
    await this.nc.close();
  }

  /**
   * Subscribes with a plain callback; permission and connection errors go to the log. So does what the callback throws: the
   * library would take it for the end of the connection's input, and deliver nothing more.
   * @param queue group of which one member gets each message; without it everybody does
   */
  subscribe(subject: string, onMessage: (message: Msg) => void, queue?: string): Subscription {
    return this.nc.subscribe(subject, {
      ...(queue !== undefined && { queue }),
      callback: (error, message) => {
        if (error) {
          this.#log.error({ err: error, subject }, 'a subscription failed');
          return;
        }
        try {
          onMessage(message);
        } catch (thrown) {
          this.#log.error({ err: thrown, subject }, 'a message could not be handled');
        }
      },
    });
  }

  /** A listener that throws keeps no other from being called. */
  #callReconnectListeners(): void {
    for (const listener of this.#reconnectListeners) {
      try {
        listener();
      } catch (error) {
        this.#log.error({ err: error }, 'a listener failed after the broker connection came back');
      }
    }
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (status.type === 'disconnect') {
        this.#disconnectedSince ??= performance.now();
        this.#log.warn({ server: status.server }, 'broker connection lost');
      } else if (status.type === 'reconnect') {
        this.#disconnectedSince = undefined;
        this.#connectedSince = performance.now();
        this.#pace.note(false);
        this.#log.info({ server: status.server }, 'broker connection is back');
        this.#callReconnectListeners();
      } else if (status.type === 'error') {
        this.#pace.note(isRefusal(status.error));
        if (isRefusal(status.error))
          this.#log.error({ reason: status.error.message }, 'the broker refuses this credential');
        else this.#log.error({ err: status.error }, 'broker error');
      }
    }
    this.#disconnectedSince ??= performance.now();
  }
}

/**
 * Connects to NATS, trying for up to half a minute.
 * @throws ConfigError for a URL that is none, and the library's error when no server answered or it wants other credentials
 */
export async function connectBroker({
  name,
  prefix,
  log,
  waitMs = firstConnectMs,
  ...access
}: BrokerOptions): Promise<Broker> {
  const { transport, ca, options } = connectionOptions(access, name);
  const pace = new ReconnectPace();
  Object.assign(options, pace.options);
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      const { inboxPrefix } = options;
      return new Broker(await openConnection(transport, options, ca), pace, { prefix, log, inboxPrefix, ...access });
    } catch (error) {
      if (isRefusal(error) || performance.now() > deadline) throw error;
      log.debug({ err: error }, 'no broker answers yet');
      await sleep(250);
    }
  }
}

/** What the server says to a connection whose credential is revoked, before it closes it. The library has no error for it. */
const revoked = /^(User Authentication|Credentials) Revoked$/i;

/** Whether a connection failed, or ended, because the broker refuses the credential. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof AuthorizationError ||
    error instanceof UserAuthenticationExpiredError ||
    (error instanceof errors.ProtocolError && revoked.test(error.message))
  );
}
