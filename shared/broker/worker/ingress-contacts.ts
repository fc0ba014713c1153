import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';
import { noResponders, type Broker } from '../connection/connect-broker.ts';

/** Milliseconds between two looks at all contacts. */
const tickMs = 100;

/** Milliseconds between two echoes of an ingress that is sent something. */
const echoMs = 500;

/** Milliseconds without an answer after which an ingress counts as silent, once the broker has answered. */
const silentAfterMs = 1_000;

/** Milliseconds after which an ingress that is neither sent nor sends anything is forgotten. */
const forgottenMs = 60_000;

/** Ingresses that are remembered at most. Tickets name them, so a forged ticket may name any. */
const maxContacts = 1_000;

/** What a worker knows of the way to one ingress. Times are milliseconds of `performance.now()`. */
export interface Contact {
  readonly ingress: string;
  /** When something was last sent to it, echoes left out. */
  sentAt: number;
  /** When it last sent something. */
  heardAt: number;
  /** When the oldest message was sent that it would have answered at once. */
  askedAt: number | undefined;
  /** The last echo. */
  echo: { number: number; sentAt: number };
  /** Since when it has not answered, once that is longer than it may take. */
  silentSince: number | undefined;
}

export interface IngressContactsOptions {
  broker: Pick<Broker, 'subjects' | 'connected' | 'publish' | 'roundTripMs'>;
  log: Logger;
  /** Subject prefix of the worker's own inbox for answers to keep-alives. */
  inbox: string;
  /** An ingress has fallen silent: whatever waits for it is given up. */
  onSilent: (ingress: string) => void;
}

/**
 * Finds out within a second when an ingress stands still or its host is gone, while the broker still lists it as a subscriber.
 *
 * An ingress that is sent something is asked for an echo, twice a second at most: a keep-alive for a grant that does not exist,
 * which every release answers at once. No answer within a second, although the broker answers, makes it silent. It is no longer
 * silent when anything comes from it.
 */
export class IngressContacts {
  readonly #options: IngressContactsOptions;
  readonly #contacts = new Map<string, Contact>();
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
    for (const contact of this.#contacts.values()) {
      contact.askedAt = undefined;
      contact.silentSince = undefined;
    }
  }

  isSilent(ingress: string): boolean {
    return this.#contacts.get(ingress)?.silentSince !== undefined;
  }

  /** Something is sent to an ingress. @param isAsked whether it answers at once */
  sent(ingress: string, isAsked: boolean): void {
    const contact = this.#at(ingress);
    contact.sentAt = performance.now();
    if (isAsked) contact.askedAt ??= contact.sentAt;
  }

  /** Something came from an ingress. */
  heard(ingress: string): void {
    const contact = this.#at(ingress);
    contact.heardAt = performance.now();
    this.#answered(contact);
  }

  /** The broker has no subscriber for an ingress: it is gone, or without connection, but it holds nobody up. */
  absent(ingress: string): void {
    const contact = this.#contacts.get(ingress);
    if (contact) this.#answered(contact);
  }

  /** Takes the answer to an echo. @returns false when the token is that of a grant */
  onEcho(token: string, { headers }: Pick<Msg, 'headers'>): boolean {
    const ingress = /^echo-\d+-(.+)$/.exec(token)?.[1];
    if (ingress === undefined) return false;
    if (headers?.code === noResponders) this.absent(ingress);
    else this.heard(ingress);
    return true;
  }

  /** The ingress that something came from last, and within the last seconds; never a silent one. */
  liveliest(): string | undefined {
    let best: Contact | undefined;
    for (const contact of this.#contacts.values()) {
      if (contact.silentSince === undefined && contact.heardAt > (best?.heardAt ?? performance.now() - forgottenMs))
        best = contact;
    }
    return best?.ingress;
  }

  #at(ingress: string): Contact {
    const known = this.#contacts.get(ingress);
    if (known) return known;
    if (this.#contacts.size >= maxContacts) this.#forgetOldest();
    const never = Number.NEGATIVE_INFINITY;
    const contact: Contact = {
      ingress,
      sentAt: performance.now(),
      heardAt: never,
      askedAt: undefined,
      echo: { number: 0, sentAt: never },
      silentSince: undefined,
    };
    this.#contacts.set(ingress, contact);
    return contact;
  }

  #forgetOldest(): void {
    for (const ingress of this.#contacts.keys()) return void this.#contacts.delete(ingress);
  }

  #answered(contact: Contact): void {
    if (contact.silentSince !== undefined) {
      const silentMs = Math.round(performance.now() - contact.silentSince);
      this.#options.log.info({ ingress: contact.ingress, silentMs }, 'ingress answers again');
    }
    contact.askedAt = undefined;
    contact.silentSince = undefined;
  }

  #tick(now: number): void {
    if (!this.#options.broker.connected) return;
    for (const contact of this.#contacts.values()) {
      const { sentAt, heardAt, echo, askedAt } = contact;
      if (Math.max(sentAt, heardAt) < now - forgottenMs) this.#contacts.delete(contact.ingress);
      else if ((askedAt !== undefined || sentAt > echo.sentAt) && now - echo.sentAt >= echoMs) this.#ask(contact, now);
    }
    if (!this.#isJudging && this.#overdue(now).length > 0) void this.#judge();
  }

  #ask(contact: Contact, now: number): void {
    const { broker, inbox } = this.#options;
    this.#echoes += 1;
    contact.echo = { number: this.#echoes, sentAt: now };
    contact.askedAt ??= now;
    const token = `echo-${this.#echoes}-${contact.ingress}`;
    broker.publish(`${broker.subjects.reply(contact.ingress, token)}.k.0`, '', `${inbox}.${token}`);
  }

  #overdue(now: number): Contact[] {
    return [...this.#contacts.values()].filter(
      ({ askedAt, silentSince }) => silentSince === undefined && askedAt !== undefined && now - askedAt > silentAfterMs,
    );
  }

  /** An ingress is silent only once the broker has shown that neither it nor this process stands still. */
  async #judge(): Promise<void> {
    this.#isJudging = true;
    const answerMs = await this.#options.broker.roundTripMs();
    this.#isJudging = false;
    if (answerMs === undefined) return;
    // Whatever the server sent before its answer has come by now.
    for (const contact of this.#overdue(performance.now())) {
      contact.silentSince = contact.askedAt;
      this.#options.log.warn({ ingress: contact.ingress }, 'ingress is silent: its tickets are left to wait');
      this.#options.onSilent(contact.ingress);
    }
  }
}
