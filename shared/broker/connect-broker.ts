import { connect, type Msg, type NatsConnection, type Payload, type Subscription } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';
import { createSubjects, type Subjects } from './subjects.ts';

/** Status of a message that the server sends when nobody listens to a subject. */
export const noResponders = 503;

export interface BrokerOptions {
  /** One URL or several, comma separated: `nats://user:password@host:4222`. `tls://` asks for TLS. */
  url: string;
  /** Shown by the NATS server for this connection. */
  name: string;
  /** First token of every subject. */
  prefix: string;
  log: Logger;
}

/**
 * The connection to NATS: what the library offers, plus whether it stands right now and a call when it does again.
 * It reconnects for ever. What is published while it is down is lost; whoever needs more listens to `onReconnect`.
 */
export class Broker {
  readonly nc: NatsConnection;
  readonly subjects: Subjects;
  readonly #log: Logger;
  readonly #reconnectListeners = new Set<() => void>();
  #connected = true;

  constructor(nc: NatsConnection, subjects: Subjects, log: Logger) {
    this.nc = nc;
    this.subjects = subjects;
    this.#log = log;
    this.#followStatus().catch((error: unknown) => log.error({ err: error }, 'following the broker connection failed'));
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Largest payload of one message, in bytes. */
  get maxPayload(): number {
    return this.nc.info?.max_payload ?? 1024 * 1024;
  }

  /** Calls back whenever a lost connection stands again, subscriptions included. Returns the call that ends it. */
  onReconnect(listener: () => void): () => void {
    this.#reconnectListeners.add(listener);
    return () => this.#reconnectListeners.delete(listener);
  }

  publish(subject: string, payload: Payload, reply?: string): void {
    if (this.nc.isClosed()) return;
    this.nc.publish(subject, payload, reply === undefined ? undefined : { reply });
  }

  /** Subscribes with a plain callback; permission and connection errors go to the log. */
  subscribe(subject: string, onMessage: (message: Msg) => void): Subscription {
    return this.nc.subscribe(subject, {
      callback: (error, message) => {
        if (error) this.#log.error({ err: error, subject }, 'a subscription failed');
        else onMessage(message);
      },
    });
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        this.#log.warn({ server: status.server }, 'broker connection lost');
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        this.#log.info({ server: status.server }, 'broker connection is back');
        for (const listener of this.#reconnectListeners) listener();
      } else if (status.type === 'error') {
        this.#log.error({ err: status.error }, 'broker error');
      }
    }
    this.#connected = false;
  }
}

/**
 * Connects to NATS, trying for up to half a minute, so that the parts of a cluster may start in any order.
 * @throws the library's ConnectionError when no server answered
 */
export async function connectBroker({ url, name, prefix, log }: BrokerOptions): Promise<Broker> {
  const urls = url.split(',').map((each) => new URL(each.trim()));
  const { username, password } = urls[0] ?? { username: '', password: '' };
  const nc = await connect({
    servers: urls.map((each) => `${each.protocol}//${each.host}`),
    name,
    ...(username && password ? { user: decodeURIComponent(username), pass: decodeURIComponent(password) } : {}),
    ...(username && !password ? { token: decodeURIComponent(username) } : {}),
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 100,
    waitOnFirstConnect: false,
    timeout: 5_000,
    pingInterval: 10_000,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
  });
  return new Broker(nc, createSubjects(prefix), log);
}
