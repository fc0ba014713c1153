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
import { Listeners } from '#shared/core/listeners.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import { buildConnectionOptions, type BrokerAccess } from './connection-options.ts';
import { signOwnUser, type Credential, type Role } from './credential.ts';
import { openConnection, UntrustedBrokerError } from './open-connection.ts';
import { Outbox } from './outbox.ts';
import { ReconnectBackoff } from './reconnect-backoff.ts';
import { createSubjects, type Subjects } from '../contract/subjects.ts';
import { openCredentialName } from '../contract/worker-address.ts';

/** The status code of the server's answer to a message that no subscriber receives. */
export const noRespondersCode = 503;

export interface BrokerOptions extends BrokerAccess {
  /** The name that the NATS server shows for this connection. */
  name: string;
  /** The first token of every subject. A credential's own prefix replaces it. */
  prefix: string;
  log: Logger;
  /** Milliseconds for which the first connection is retried. Default: 30 s. */
  waitMs?: number;
}

/** Milliseconds for which the first connection is retried, so that the processes of a cluster may start in any order. */
const firstConnectMs = 30_000;

/** Milliseconds within which a healthy server answers. */
const maxRoundTripMs = 1_000;

/** A server that takes longer than this many milliseconds to answer was blocked. */
const maxPromptMs = 500;

/** Milliseconds that the last messages have to reach the server when the connection is closed. */
const closeFlushMs = 1_000;

/**
 * A connection to NATS that reconnects for ever. `nc` is the library's connection. Messages that are published while the connection is down
 * are lost; use `onReconnect` to publish them again.
 */
export class Broker {
  readonly nc: NatsConnection;
  readonly subjects: Subjects;
  readonly #backoff: ReconnectBackoff;
  readonly #log: Logger;
  readonly #outbox: Outbox;
  readonly #credential: Credential | undefined;
  readonly #inboxPrefix: string | undefined;
  readonly #reconnectListeners: Listeners;
  #disconnectedSince: number | undefined;
  #connectedSince = performance.now();

  constructor(
    nc: NatsConnection,
    backoff: ReconnectBackoff,
    { prefix, log, credential, inboxPrefix }: Omit<BrokerOptions, 'name' | 'url'> & { inboxPrefix: string | undefined },
  ) {
    this.nc = nc;
    this.#backoff = backoff;
    this.subjects = createSubjects(credential?.prefix ?? prefix);
    this.#credential = credential;
    this.#inboxPrefix = inboxPrefix;
    this.#log = log;
    this.#reconnectListeners = new Listeners('the broker connection is back', log);
    this.#outbox = new Outbox(nc, log);
    this.#followStatus().catch((error: unknown) => log.error({ err: error }, 'following the broker connection failed'));
  }

  /**
   * Returns the name of this process's credential; `open` without a credential.
   * @throws ConfigError if the credential is for another role
   */
  requireCredentialName(role: Role): string {
    if (!this.#credential) return openCredentialName;
    const { role: credentialRole, name } = this.#credential;
    if (credentialRole !== role)
      throw new ConfigError(`the credential ${name} is for ${credentialRole}, not for ${role}`);
    return name;
  }

  /** The public key of the NATS user that this process has signed with a shared credential; undefined otherwise. */
  get userKey(): string | undefined {
    return this.#credential?.userKey;
  }

  get connected(): boolean {
    return this.#disconnectedSince === undefined;
  }

  /** When the connection was lost, in milliseconds of `performance.now()`; undefined while the connection is up. */
  get disconnectedSince(): number | undefined {
    return this.#disconnectedSince;
  }

  /** When the connection was last established, in milliseconds of `performance.now()`. */
  get connectedSince(): number {
    return this.#connectedSince;
  }

  /**
   * Calls the listener whenever a lost connection and its subscriptions are restored.
   * @returns a function that ends the calls
   */
  onReconnect(listener: () => void): () => void {
    return this.#reconnectListeners.add(listener);
  }

  /** Sends a message at the end of this turn of the event loop, after the messages published before it. */
  publish(subject: string, payload: Payload, reply?: string, headers?: MsgHdrs): void {
    this.#outbox.add({ subject, payload, reply, headers });
  }

  /** Sends a message at once, ahead of published messages that still wait. */
  publishImmediately(subject: string, payload: Payload, reply?: string, headers?: MsgHdrs): void {
    this.#outbox.sendImmediately({ subject, payload, reply, headers });
  }

  /** Sends a message that is not urgent, together with the next message or within a few milliseconds. */
  publishUnhurried(subject: string, payload: Payload, reply?: string, headers?: MsgHdrs): void {
    this.#outbox.addUnhurried({ subject, payload, reply, headers });
  }

  /** Creates a subject at which this process receives answers. No worker may publish to it. */
  createInbox(): string {
    return createInbox(this.#inboxPrefix);
  }

  /** Resolves when the server has received everything that was published so far. Does not resolve while there is no connection. */
  async flush(): Promise<void> {
    this.#outbox.send();
    await this.nc.flush();
  }

  /**
   * Measures the milliseconds that the server takes to answer; undefined if it does not answer within a second. Never rejects, so that no
   * check that waits for it stays under way for ever.
   */
  async measureRoundTripMs(): Promise<number | undefined> {
    if (!this.connected) return undefined;
    const startedAt = performance.now();
    const roundTrip = this.nc.flush().then(
      () => performance.now() - startedAt,
      () => undefined,
    );
    return Promise.race([roundTrip, sleep(maxRoundTripMs, undefined, { ref: false })]);
  }

  /** Whether the server answers promptly. Otherwise it was blocked or is out of reach, and the silence of others proves nothing. */
  async answersPromptly(): Promise<boolean> {
    const answerMs = await this.measureRoundTripMs();
    return answerMs !== undefined && answerMs <= maxPromptMs;
  }

  /** Sends the messages that still wait and closes the connection. Waits at most a second for the server to receive them. */
  async close(): Promise<void> {
    if (this.connected) {
      const flushed = this.flush().catch((error: unknown) =>
        this.#log.warn({ err: error }, 'last messages may be lost'),
      );
      await Promise.race([flushed, sleep(closeFlushMs, undefined, { ref: false })]);
    }
    await this.nc.close();
  }

  /**
   * Calls `onMessage` for each message of a subject. Logs permission errors, connection errors and errors that `onMessage` throws. The
   * library would treat a thrown error as the end of the connection's input, and deliver no further message.
   * @param queue the name of a queue group; each message goes to one subscriber of the group. Absent: each message goes to every subscriber
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

  async #followStatus(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (status.type === 'disconnect') {
        // Over a WebSocket, the library reports each failed try to reconnect, too.
        if (this.#disconnectedSince === undefined) this.#log.warn({ server: status.server }, 'broker connection lost');
        this.#disconnectedSince ??= performance.now();
      } else if (status.type === 'reconnect') {
        this.#disconnectedSince = undefined;
        this.#connectedSince = performance.now();
        this.#backoff.setRefused(false);
        this.#log.info({ server: status.server }, 'broker connection is back');
        this.#reconnectListeners.call();
      } else if (status.type === 'error') {
        this.#backoff.setRefused(isCredentialRefusal(status.error));
        if (isCredentialRefusal(status.error))
          this.#log.error({ reason: status.error.message }, 'the broker refuses this credential');
        else this.#log.error({ err: status.error }, 'broker error');
      }
    }
    this.#disconnectedSince ??= performance.now();
  }
}

/**
 * Connects to NATS. Retries for `waitMs` while no server answers.
 * @throws ConfigError for an invalid URL; the library's error if no server has answered, or the server refuses the credential;
 *   UntrustedBrokerError
 */
export async function connectBroker({
  name,
  prefix,
  log,
  waitMs = firstConnectMs,
  credential: issuedCredential,
  ...address
}: BrokerOptions): Promise<Broker> {
  const access = { ...address, credential: issuedCredential && (await signOwnUser(issuedCredential)) };
  const { transport, ca, options } = buildConnectionOptions(access, name);
  const backoff = new ReconnectBackoff();
  Object.assign(options, backoff.options);
  let untrusted: UntrustedBrokerError | undefined;
  const onUntrusted = (error: UntrustedBrokerError): void => {
    untrusted = error;
    backoff.setRefused(true);
    log.error({ reason: error.message }, 'the broker is not trusted');
  };
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      const { inboxPrefix } = options;
      const nc = await openConnection(transport, options, { ca, onUntrusted });
      backoff.setRefused(false);
      return new Broker(nc, backoff, { prefix, log, inboxPrefix, ...access });
    } catch (error) {
      if (untrusted) throw untrusted;
      if (isCredentialRefusal(error) || performance.now() > deadline) throw error;
      log.debug({ err: error }, 'no broker answers yet');
      await sleep(250);
    }
  }
}

/**
 * The message that the server sends before it closes a connection whose credential is revoked. The library has no error class for this
 * message.
 */
const revokedPattern = /^(User Authentication|Credentials) Revoked$/i;

/**
 * The message of a server that has waited too long for the credential, because a side was overloaded. The library has the same error class
 * for it as for a refused credential.
 */
const slowLoginPattern = /authentication timeout/i;

/** Whether a connection failed or ended because the broker refuses the credential. */
export function isCredentialRefusal(error: unknown): boolean {
  return (
    (error instanceof AuthorizationError && !slowLoginPattern.test(error.message)) ||
    error instanceof UserAuthenticationExpiredError ||
    (error instanceof errors.ProtocolError && revokedPattern.test(error.message))
  );
}
