import type { Msg } from '@nats-io/transport-node';
import { LRUCache } from 'lru-cache';
import type { Logger } from '#shared/core/log.ts';
import { noResponders, type Broker } from '../connection/connect-broker.ts';
import { DispatcherContact } from './dispatcher-contact.ts';

const tickMs = 100;

const echoMs = 500;

/** Milliseconds without an answer after which a dispatcher counts as silent, if the broker answers. */
const silentAfterMs = 1_000;

/** Milliseconds without traffic after which a dispatcher is dropped from the list. */
const forgottenMs = 60_000;

/** Maximum remembered dispatchers, the most recently used ones. Tickets name them, so a forged ticket may name any. */
const maxContacts = 1_000;

export interface DispatcherContactsOptions {
  broker: Pick<Broker, 'subjects' | 'connected' | 'publish' | 'roundTripMs'>;
  log: Logger;
  /** The subject prefix of the worker's own inbox for answers to keep-alives. */
  inbox: string;
  /** Called when a dispatcher has fallen silent. The receiver must give up everything that waits for it. */
  onSilent: (ingress: string) => void;
}

/**
 * Detects within a second that a dispatcher hangs, or that its host has vanished, while the broker still lists it as a subscriber. Also
 * finds out which frames have arrived.
 *
 * A dispatcher that is sent something also gets an echo request, twice a second at most. The request is a keep-alive for a grant that does
 * not exist, which every release answers at once. Without an answer within a second, although the broker answers, the dispatcher is silent.
 * It stops being silent when anything comes from it.
 */
export class DispatcherContacts {
  readonly #options: DispatcherContactsOptions;
  readonly #contacts = new LRUCache<string, DispatcherContact>({ max: maxContacts });
  readonly #timer: NodeJS.Timeout;
  #echoes = 0;
  #isJudging = false;

  constructor(options: DispatcherContactsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(performance.now()), tickMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Stops waiting for answers of all dispatchers. Call it after the connection was lost. */
  reset(): void {
    for (const contact of this.#contacts.values()) contact.reset();
  }

  at(ingress: string): DispatcherContact {
    const known = this.#contacts.get(ingress);
    if (known) return known;
    const contact = new DispatcherContact(ingress);
    this.#contacts.set(ingress, contact);
    return contact;
  }

  isSilent(ingress: string): boolean {
    return this.#contacts.peek(ingress)?.isSilent === true;
  }

  /**
   * Handles the answer to an echo.
   * @returns false if the token is that of a grant
   */
  onEcho(token: string, { headers }: Pick<Msg, 'headers'>): boolean {
    const [, number, ingress] = /^echo-(\d+)-(.+)$/.exec(token) ?? [];
    if (ingress === undefined) return false;
    const contact = this.#contacts.get(ingress);
    if (headers?.code === noResponders) contact?.recordAbsent();
    else contact?.recordReceived(Number(number));
    return true;
  }

  /** Returns the dispatcher that sent something most recently, within the last minute; silent and absent ones are skipped. */
  lastActive(): string | undefined {
    let best: DispatcherContact | undefined;
    for (const contact of this.#contacts.values()) {
      const isLater = contact.lastReceivedAt > (best?.lastReceivedAt ?? performance.now() - forgottenMs);
      if (contact.lostSince === undefined && isLater) best = contact;
    }
    return best?.ingress;
  }

  #tick(now: number): void {
    if (!this.#options.broker.connected) return;
    for (const contact of this.#contacts.values()) {
      if (contact.usedAt < now - forgottenMs) this.#contacts.delete(contact.ingress);
      else if (contact.isEchoDue(now, echoMs)) this.#ask(contact, now);
    }
    if (!this.#isJudging && this.#overdue(now).length > 0) void this.#judge();
  }

  #ask(contact: DispatcherContact, now: number): void {
    const { broker, inbox } = this.#options;
    this.#echoes += 1;
    contact.recordEcho(this.#echoes, now);
    const token = `echo-${this.#echoes}-${contact.ingress}`;
    broker.publish(`${broker.subjects.reply(contact.ingress, token)}.k.0`, '', `${inbox}.${token}`);
  }

  #overdue(now: number): DispatcherContact[] {
    return [...this.#contacts.values()].filter((contact) => contact.isOverdue(now, silentAfterMs));
  }

  /** Marks overdue dispatchers as silent once the broker has answered, which shows that neither the broker nor this process hangs. */
  async #judge(): Promise<void> {
    this.#isJudging = true;
    const answerMs = await this.#options.broker.roundTripMs();
    this.#isJudging = false;
    if (answerMs === undefined) return;
    // The broker keeps the order, so whatever the server sent before its answer has arrived by now.
    for (const contact of this.#overdue(performance.now())) {
      contact.markSilent();
      this.#options.log.warn({ ingress: contact.ingress }, 'ingress is silent: its tickets are set aside');
      this.#options.onSilent(contact.ingress);
    }
  }
}
