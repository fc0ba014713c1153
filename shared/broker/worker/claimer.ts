import type { Msg } from '@nats-io/transport-node';
import { LRUCache } from 'lru-cache';
import { noResponders, type Broker } from '../connection/connect-broker.ts';
import { decodeClaimAnswer, encodeClaim, type Grant } from '../contract/claim.ts';
import { parseGrant } from '../contract/subjects.ts';
import type { Ticket } from '../contract/ticket.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';
import type { DispatcherContacts } from './dispatcher-contacts.ts';

/** Milliseconds until a claim is given up if its dispatcher does not answer, or stops in the middle of a body. */
const answerMs = 5_000;

/** Maximum claims that stay stored after they were given up without an answer. Their grant may still come. */
const maxUnanswered = 1_000;

/**
 * The outcome of a claim. `gone`, `taken` and `later` (another worker gets the job) need no further work. `full` means that there is no
 * memory for the body. `silent` means that the dispatcher did not answer in time, or did not complete the body.
 */
export type ClaimOutcome =
  | { kind: 'grant'; grant: Grant; body: Buffer }
  | { kind: 'gone' | 'taken' | 'later' }
  | { kind: 'full'; grant: Grant }
  | { kind: 'silent'; grant: Grant | undefined };

interface Pending {
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
  /** The subject prefix of the worker's own inbox for answers to claims. */
  inbox: string;
  contacts: DispatcherContacts;
  /** The memory budget from which bodies are reserved. The receiver of a grant releases the memory of its body. */
  bodies: MemoryBudget;
  /** Called if a claim that was given up without an answer is granted after all, with the grant and the first part of its body. */
  onLateGrant: (grant: Grant, firstPart: Uint8Array) => void;
}

/** Claims jobs for one worker. All answers come to one inbox; the parts of a body follow the answer in order. */
export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #unanswered = new LRUCache<string, string>({ max: maxUnanswered });
  #count = 0;

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  /**
   * Claims the job of a ticket.
   * @param ackSubject JetStream's ack subject for the ticket; the dispatcher that answers the claim acks the ticket
   * @param onNoDispatcher called once if the dispatcher has no subscriber; the caller must then ack the ticket
   * @param onOutcome called once, in the same turn of the event loop as the deciding message, because a cancel right after a grant must
   * find the job
   */
  claim(
    ticket: Ticket,
    ackSubject: string,
    onNoDispatcher: Pending['onNobody'],
    onOutcome: Pending['onOutcome'],
  ): void {
    this.#count += 1;
    const id = String(this.#count);
    const timer = setTimeout(() => this.#giveUp(id), answerMs);
    const { ingress } = ticket;
    this.#pending.set(id, {
      ingress,
      onNobody: onNoDispatcher,
      onOutcome,
      timer,
      grant: undefined,
      parts: [],
      received: 0,
    });
    const claim = encodeClaim({ v: ticket.v, job: ticket.job, ticket: ackSubject });
    const { broker, worker, inbox, contacts } = this.#options;
    broker.publish(broker.subjects.claim(ingress, worker), claim, `${inbox}.${id}`);
    contacts.at(ingress).recordSent(true);
  }

  giveUp(ingress: string): void {
    for (const [id, pending] of this.#pending) if (pending.ingress === ingress) this.#giveUp(id);
  }

  isReceiving(grant: string): boolean {
    return this.#receiving(grant) !== undefined;
  }

  /** Drops a grant whose body is still on the way, because its client has left. */
  drop(grant: string): void {
    const id = this.#receiving(grant);
    if (id !== undefined) this.#finish(id, { kind: 'gone' });
  }

  /** Gives up all claims. Call it after the connection was lost, because all answers and parts under way were lost with it. */
  reset(): void {
    for (const id of this.#pending.keys()) this.#giveUp(id);
    this.#unanswered.clear();
  }

  /** Handles a message that came to the inbox. `id` is the number of the claim. */
  onMessage(id: string, { data: payload, headers }: Msg): void {
    const pending = this.#pending.get(id);
    if (!pending) return this.#onLateAnswer(id, payload);
    const { contacts } = this.#options;
    const contact = contacts.at(pending.ingress);
    if (headers?.code === noResponders) contact.recordAbsent();
    else contact.recordReceived();
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

  /** Reads only the first message of an answer, because the parts that follow a grant may be any bytes of a client. */
  #onLateAnswer(id: string, payload: Uint8Array): void {
    const ingress = this.#unanswered.get(id);
    if (ingress === undefined) return;
    this.#unanswered.delete(id);
    this.#options.contacts.at(ingress).recordReceived();
    const { answer, firstPart } = decodeClaimAnswer(payload) ?? {};
    if (answer?.answer === 'grant' && firstPart) this.#options.onLateGrant(answer, firstPart);
  }

  #receiving(wanted: string): string | undefined {
    for (const [id, { grant }] of this.#pending) if (grant && parseGrant(grant.reply) === wanted) return id;
    return undefined;
  }

  #addPart(id: string, pending: Pending, part: Uint8Array): void {
    const { grant } = pending;
    if (!grant) return;
    pending.parts.push(part);
    pending.received += part.length;
    pending.timer.refresh();
    if (pending.received >= grant.bodyBytes)
      this.#finish(id, { kind: 'grant', grant, body: concatParts(pending.parts) });
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
    if (pending.grant && outcome.kind !== 'grant') this.#options.bodies.release(pending.grant.bodyBytes);
    pending.onOutcome(outcome);
  }
}

function concatParts(parts: Uint8Array[]): Buffer {
  const [first] = parts;
  return parts.length === 1 && first
    ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
    : Buffer.concat(parts);
}
