import type { Msg } from '@nats-io/transport-node';
import { LRUCache } from 'lru-cache';
import type { Logger } from '#shared/core/log.ts';
import { noRespondersCode, type Broker } from '../connection/connect-broker.ts';
import { DispatcherContact } from './dispatcher-contact.ts';

/** Milliseconds between two checks of all dispatchers. */
const tickMs = 100;

/** Minimum milliseconds between two echo requests to a dispatcher. */
const echoIntervalMs = 500;

/** Milliseconds without an answer after which a dispatcher counts as silent, provided that the broker answers. */
const silentAfterMs = 1_000;

/** Milliseconds without traffic after which the contact of a dispatcher is dropped. */
const dropAfterMs = 60_000;

/**
 * Maximum contacts; the most recently used ones are kept. The limit is needed because forged tickets may name any number of dispatchers.
 */
const maxContacts = 1_000;

/**
 * Detects within a second that a dispatcher hangs, or that its host has vanished. The broker does not show this, because it keeps the
 * dispatcher's subscriptions for longer. An answered echo request also proves that all frames sent before it have reached the dispatcher.
 *
 * When a worker has sent something to a dispatcher, it also sends an echo request, at most twice a second. The request is a keep-alive for
 * a grant that does not exist; dispatchers of every version answer it at once. If no answer comes within a second, although the broker
 * answers, the dispatcher is silent. It stops being silent when anything comes from it.
 */
export class DispatcherContacts {
  readonly #broker: Pick<Broker, 'subjects' | 'connected' | 'publish' | 'measureRoundTripMs'>;
  readonly #log: Logger;
  readonly #inbox: string;
  readonly #onSilent: (ingress: string) => void;
  readonly #contacts = new LRUCache<string, DispatcherContact>({ max: maxContacts });
  readonly #timer: NodeJS.Timeout;
  #echoCount = 0;
  #isMarking = false;

  /**
   * @param inbox the subject prefix of the worker's own inbox for answers to keep-alives
   * @param onSilent called when a dispatcher has fallen silent. Everything that waits for this dispatcher must then be given up
   */
  constructor(
    broker: Pick<Broker, 'subjects' | 'connected' | 'publish' | 'measureRoundTripMs'>,
    log: Logger,
    inbox: string,
    onSilent: (ingress: string) => void,
  ) {
    this.#broker = broker;
    this.#log = log;
    this.#inbox = inbox;
    this.#onSilent = onSilent;
    this.#timer = setInterval(() => this.#tick(performance.now()), tickMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Stops waiting for answers of all dispatchers. Call it after the connection was lost. */
  reset(): void {
    for (const contact of this.#contacts.values()) contact.reset();
  }

  /** Returns the contact of a dispatcher, and creates it if there is none. */
  getOrCreate(ingress: string): DispatcherContact {
    const existing = this.#contacts.get(ingress);
    if (existing) return existing;
    const contact = new DispatcherContact(ingress);
    this.#contacts.set(ingress, contact);
    return contact;
  }

  isSilent(ingress: string): boolean {
    return this.#contacts.peek(ingress)?.isSilent === true;
  }

  /**
   * Handles the answer to an echo request.
   * @param token the last token of the answer's subject
   * @returns false if the message is not the answer to an echo request; the token is then the token of a grant
   */
  onEcho(token: string, { headers }: Pick<Msg, 'headers'>): boolean {
    const [, number, ingress] = /^echo-(\d+)-(.+)$/.exec(token) ?? [];
    if (ingress === undefined) return false;
    const contact = this.#contacts.get(ingress);
    if (headers?.code === noRespondersCode) contact?.recordAbsent();
    else contact?.recordReceived(Number(number));
    return true;
  }

  /**
   * Returns the dispatcher in reach that sent something most recently; undefined if no dispatcher in reach has sent anything within the
   * last minute.
   */
  findLastActive(): string | undefined {
    let lastActive: DispatcherContact | undefined;
    for (const contact of this.#contacts.values()) {
      const isLater = contact.lastReceivedAt > (lastActive?.lastReceivedAt ?? performance.now() - dropAfterMs);
      if (contact.lostSince === undefined && isLater) lastActive = contact;
    }
    return lastActive?.ingress;
  }

  #tick(now: number): void {
    if (!this.#broker.connected) return;
    for (const contact of this.#contacts.values()) {
      if (contact.lastUsedAt < now - dropAfterMs) this.#contacts.delete(contact.ingress);
      else if (contact.isEchoDue(now, echoIntervalMs)) this.#sendEcho(contact, now);
    }
    if (!this.#isMarking && this.#findOverdue(now).length > 0) void this.#markSilentContacts();
  }

  #sendEcho(contact: DispatcherContact, now: number): void {
    this.#echoCount += 1;
    contact.recordEcho(this.#echoCount, now);
    const token = `echo-${this.#echoCount}-${contact.ingress}`;
    this.#broker.publish(`${this.#broker.subjects.reply(contact.ingress, token)}.k.0`, '', `${this.#inbox}.${token}`);
  }

  #findOverdue(now: number): DispatcherContact[] {
    return [...this.#contacts.values()].filter((contact) => contact.isOverdue(now, silentAfterMs));
  }

  /** Marks overdue dispatchers as silent once the broker has answered, which shows that neither the broker nor this process hangs. */
  async #markSilentContacts(): Promise<void> {
    this.#isMarking = true;
    const answerMs = await this.#broker.measureRoundTripMs();
    this.#isMarking = false;
    if (answerMs === undefined) return;
    // The broker delivers in order, so everything that it sent before this answer, echoes included, has arrived by now.
    for (const contact of this.#findOverdue(performance.now())) {
      contact.markSilent();
      this.#log.warn({ ingress: contact.ingress }, 'ingress is silent: its tickets are set aside');
      this.#onSilent(contact.ingress);
    }
  }
}
