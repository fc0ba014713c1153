import type { Msg } from '@nats-io/transport-node';
import { LRUCache } from 'lru-cache';
import { noResponders, type Broker } from '../connection/connect-broker.ts';
import { decodeClaimAnswer, encodeClaim, type Grant } from '../contract/claim.ts';
import { grantOf } from '../contract/subjects.ts';
import type { Ticket } from '../contract/ticket.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';
import type { IngressContacts } from './ingress-contacts.ts';

/** Milliseconds until an ingress that does not answer a claim, or stops in the middle of a body, is given up. */
const answerMs = 5_000;

/** Claims given up without an answer that are remembered at most, because a grant may still come. */
const maxUnanswered = 1_000;

/**
 * What came of a claim. After `gone`, `taken` and `later` (another worker is to have the job) nothing is left to do; `full` means that
 * there is no memory for the body, `silent` that the ingress did not answer, or not to the end, in time.
 */
export type ClaimOutcome =
  | { kind: 'grant'; grant: Grant; body: Buffer }
  | { kind: 'gone' | 'taken' | 'later' }
  | { kind: 'full'; grant: Grant }
  | { kind: 'silent'; grant: Grant | undefined };

interface Pending {
  /** The ingress that was asked. */
  ingress: string;
  onNobody: () => void;
  onOutcome: (outcome: ClaimOutcome) => void;
  timer: NodeJS.Timeout;
  grant: Grant | undefined;
  parts: Uint8Array[];
  received: number;
}

export interface ClaimerOptions {
  broker: Broker;
  worker: WorkerAddress;
  /** Subject prefix of the worker's own inbox for answers to claims. */
  inbox: string;
  contacts: IngressContacts;
  /** Where bodies take their room; whoever is called with a grant gives it back. */
  bodies: MemoryBudget;
  /** Called with a grant, and its body's first part, of a claim that was given up without an answer. */
  onLateGrant: (grant: Grant, firstPart: Uint8Array) => void;
}

/** Claims jobs for one worker. All answers come to one inbox; the body's parts follow the answer in order. */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #pending = new Map<string, Pending>();
  /** Claims that were given up without an answer, and the ingress that was asked. */
  readonly #unanswered = new LRUCache<string, string>({ max: maxUnanswered });
  #count = 0;

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  /**
   * Claims the job that a ticket stands for.
   * @param ackSubject JetStream's ack subject for the ticket; the ingress that answers the claim acks it
   * @param onNobody called once when the ingress is gone, so that the ticket is still to be acked
   * @param onOutcome called once, in the turn of the message that decides it: a cancel that comes right behind a grant
   * must find the job
   */
  claim(ticket: Ticket, ackSubject: string, onNobody: Pending['onNobody'], onOutcome: Pending['onOutcome']): void {
    this.#count += 1;
    const id = String(this.#count);
    const timer = setTimeout(() => this.#giveUp(id), answerMs);
    const { ingress } = ticket;
    this.#pending.set(id, { ingress, onNobody, onOutcome, timer, grant: undefined, parts: [], received: 0 });
    const claim = encodeClaim({ v: ticket.v, job: ticket.job, ticket: ackSubject });
    const { broker, worker, inbox, contacts } = this.#options;
    broker.publish(broker.subjects.claim(ingress, worker), claim, `${inbox}.${id}`);
    contacts.at(ingress).sent(true);
  }

  /** Gives up all claims at an ingress that has fallen silent. */
  giveUp(ingress: string): void {
    for (const [id, pending] of this.#pending) if (pending.ingress === ingress) this.#giveUp(id);
  }

  /** Whether the body of this grant is still on the way. */
  isReceiving(grant: string): boolean {
    return this.#receiving(grant) !== undefined;
  }

  /** Forgets a grant whose body is still on the way: its client is gone. */
  drop(grant: string): void {
    const id = this.#receiving(grant);
    if (id !== undefined) this.#finish(id, { kind: 'gone' });
  }

  /** The connection was lost, and with it every answer and every part that was on its way. */
  reset(): void {
    for (const id of this.#pending.keys()) this.#giveUp(id);
    this.#unanswered.clear();
  }

  /** Takes a message that came to the inbox. */
  onMessage(id: string, { data: payload, headers }: Msg): void {
    const pending = this.#pending.get(id);
    if (!pending) return this.#onLateAnswer(id, payload);
    const { contacts } = this.#options;
    const contact = contacts.at(pending.ingress);
    if (headers?.code === noResponders) contact.absent();
    else contact.came();
    if (pending.grant) return this.#addPart(id, pending, payload);
    if (headers?.code === noResponders) {
      pending.onNobody();
      return this.#finish(id, { kind: 'gone' });
    }
    const decoded = decodeClaimAnswer(payload);
    if (!decoded) return this.#giveUp(id);
    const { answer: grant, firstPart } = decoded;
    if (grant.answer !== 'grant') return this.#finish(id, { kind: grant.answer });
    if (!this.#options.bodies.take(grant.bodyBytes)) return this.#finish(id, { kind: 'full', grant });
    pending.grant = grant;
    this.#addPart(id, pending, firstPart);
  }

  /** Only the first message of an answer is read: the parts that follow a grant may be any bytes of a client. */
  #onLateAnswer(id: string, payload: Uint8Array): void {
    const ingress = this.#unanswered.get(id);
    if (ingress === undefined) return;
    this.#unanswered.delete(id);
    this.#options.contacts.at(ingress).came();
    const { answer, firstPart } = decodeClaimAnswer(payload) ?? {};
    if (answer?.answer === 'grant' && firstPart) this.#options.onLateGrant(answer, firstPart);
  }

  #receiving(wanted: string): string | undefined {
    for (const [id, { grant }] of this.#pending) if (grant && grantOf(grant.reply) === wanted) return id;
    return undefined;
  }

  #addPart(id: string, pending: Pending, part: Uint8Array): void {
    const { grant } = pending;
    if (!grant) return;
    pending.parts.push(part);
    pending.received += part.length;
    pending.timer.refresh();
    if (pending.received >= grant.bodyBytes) this.#finish(id, { kind: 'grant', grant, body: join(pending.parts) });
  }

  #giveUp(id: string): void {
    const { ingress, grant } = this.#pending.get(id) ?? {};
    if (ingress !== undefined && !grant) this.#unanswered.set(id, ingress);
    this.#finish(id, { kind: 'silent', grant });
  }

  #finish(id: string, outcome: ClaimOutcome): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    clearTimeout(pending.timer);
    this.#pending.delete(id);
    if (pending.grant && outcome.kind !== 'grant') this.#options.bodies.give(pending.grant.bodyBytes);
    pending.onOutcome(outcome);
  }
}

function join(parts: Uint8Array[]): Buffer {
  const [first] = parts;
  return parts.length === 1 && first
    ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
    : Buffer.concat(parts);
}
