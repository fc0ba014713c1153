import type { Msg } from '@nats-io/transport-node';
import { LRUCache } from 'lru-cache';
import type { Logger } from '#shared/core/log.ts';
import { noResponders, type Broker } from '../connection/connect-broker.ts';
import { IngressContact } from './ingress-contact.ts';

/** Milliseconds between two looks at all contacts. */
const tickMs = 100;

/** Milliseconds between two echoes of an ingress that is sent something. */
const echoMs = 500;

/** Milliseconds without an answer after which an ingress counts as silent, once the broker has answered. */
const silentAfterMs = 1_000;

/** Milliseconds after which an ingress that is neither sent nor sends anything is forgotten. */
const forgottenMs = 60_000;

/** Ingresses that are remembered at most, those last used. Tickets name them, so a forged ticket may name any. */
const maxContacts = 1_000;

export interface IngressContactsOptions {
  broker: Pick<Broker, 'subjects' | 'connected' | 'publish' | 'roundTripMs'>;
  log: Logger;
  /** Subject prefix of the worker's own inbox for answers to keep-alives. */
  inbox: string;
  /** Called when an ingress has fallen silent: whatever waits for it is to be given up. */
  onSilent: (ingress: string) => void;
}

/**
 * Finds out within a second when an ingress stands still or its host is gone, while the broker still lists it as a subscriber,
 * and which frames have come.
 *
 * An ingress that is sent something is asked for an echo, twice a second at most: a keep-alive for a grant that does not exist,
 * which every release answers at once. No answer within a second, although the broker answers, makes it silent. It is no longer
 * silent when anything comes from it.
 */
export class IngressContacts {
  readonly #options: IngressContactsOptions;
  readonly #contacts = new LRUCache<string, IngressContact>({ max: maxContacts });
  readonly #timer: NodeJS.Timeout;
  #echoes = 0;
  #isJudging = false;

  constructor(options: IngressContactsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(performance.now()), tickMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** The connection was lost, and with it whatever was asked. */
  reset(): void {
    for (const contact of this.#contacts.values()) contact.reset();
  }

  /** The contact with an ingress, new or known. */
  at(ingress: string): IngressContact {
    const known = this.#contacts.get(ingress);
    if (known) return known;
    const contact = new IngressContact(ingress);
    this.#contacts.set(ingress, contact);
    return contact;
  }

  isSilent(ingress: string): boolean {
    return this.#contacts.peek(ingress)?.isSilent === true;
  }

  /** Takes the answer to an echo. @returns false when the token is that of a grant */
  onEcho(token: string, { headers }: Pick<Msg, 'headers'>): boolean {
    const [, number, ingress] = /^echo-(\d+)-(.+)$/.exec(token) ?? [];
    if (ingress === undefined) return false;
    const contact = this.#contacts.get(ingress);
    if (headers?.code === noResponders) contact?.absent();
    else contact?.came(Number(number));
    return true;
  }

  /** The ingress that something came from last, in the last minute; never a silent one. */
  liveliest(): string | undefined {
    let best: IngressContact | undefined;
    for (const contact of this.#contacts.values()) {
      const isLater = contact.cameAt > (best?.cameAt ?? performance.now() - forgottenMs);
      if (contact.lostSince === undefined && isLater) best = contact;
    }
    return best?.ingress;
  }

  #tick(now: number): void {
    if (!this.#options.broker.connected) return;
    for (const contact of this.#contacts.values()) {
      if (contact.usedAt < now - forgottenMs) this.#contacts.delete(contact.ingress);
      else if (contact.wantsEcho(now, echoMs)) this.#ask(contact, now);
    }
    if (!this.#isJudging && this.#overdue(now).length > 0) void this.#judge();
  }

  #ask(contact: IngressContact, now: number): void {
    const { broker, inbox } = this.#options;
    this.#echoes += 1;
    contact.asked(this.#echoes, now);
    const token = `echo-${this.#echoes}-${contact.ingress}`;
    broker.publish(`${broker.subjects.reply(contact.ingress, token)}.k.0`, '', `${inbox}.${token}`);
  }

  #overdue(now: number): IngressContact[] {
    return [...this.#contacts.values()].filter((contact) => contact.isOverdue(now, silentAfterMs));
  }

  /** An ingress is silent only once the broker has shown that neither it nor this process stands still. */
  async #judge(): Promise<void> {
    this.#isJudging = true;
    const answerMs = await this.#options.broker.roundTripMs();
    this.#isJudging = false;
    if (answerMs === undefined) return;
    // Whatever the server sent before its answer has come by now.
    for (const contact of this.#overdue(performance.now())) {
      contact.fallSilent();
      this.#options.log.warn({ ingress: contact.ingress }, 'ingress is silent: its tickets are set aside');
      this.#options.onSilent(contact.ingress);
    }
  }
}
