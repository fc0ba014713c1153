import type { Msg } from '@nats-io/transport-node';
import { LRUCache } from 'lru-cache';
import { noRespondersCode } from '../connection/connect-broker.ts';
import { decodeClaimAnswer, encodeClaim, type Grant } from '../contract/claim.ts';
import { parseGrantToken } from '../contract/subjects.ts';
import type { Ticket } from '../contract/ticket.ts';
import type { DispatcherContacts } from './dispatcher-contacts.ts';
import type { WorkerState } from './worker-state.ts';

/** Milliseconds after which a claim is given up if its dispatcher sends no answer, or no further part of the body. */
const answerTimeoutMs = 5_000;

/** Maximum claims that are kept after they were given up without an answer, because their grants may still come. */
const maxGivenUp = 1_000;

/** The outcome of a claim, see `ClaimEnd`. */
type ClaimOutcome =
  | { kind: 'grant'; grant: Grant; body: Buffer }
  | { kind: 'gone' | 'taken' | 'later' }
  | { kind: 'full'; grant: Grant }
  | { kind: 'silent'; grant: Grant | undefined };

interface PendingClaim {
  ingress: string;
  onNoDispatcher: () => void;
  onOutcome: (outcome: ClaimOutcome) => void;
  timer: NodeJS.Timeout;
  grant: Grant | undefined;
  parts: Uint8Array[];
  receivedBytes: number;
}

/** Claims jobs for one worker. All answers come to one inbox; the other parts of a body follow its grant in order. */
export class Claimer {
  readonly #state: WorkerState;
  readonly #contacts: DispatcherContacts;
  readonly #onLateGrant: (grant: Grant, firstPart: Uint8Array) => void;
  readonly #pending = new Map<string, PendingClaim>();
  readonly #givenUp = new LRUCache<string, string>({ max: maxGivenUp });
  #claimCount = 0;

  /**
   * Memory for each granted body is reserved in `state.bodies`; the receiver of the body releases it.
   * @param onLateGrant called with the grant and the first part of its body if a claim is granted after it was given up without an answer
   */
  constructor(
    state: WorkerState,
    contacts: DispatcherContacts,
    onLateGrant: (grant: Grant, firstPart: Uint8Array) => void,
  ) {
    this.#state = state;
    this.#contacts = contacts;
    this.#onLateGrant = onLateGrant;
  }

  /**
   * Claims the job of a ticket.
   * @param ackSubject JetStream's ack subject for the ticket; the dispatcher that answers the claim acks the ticket
   * @param onNoDispatcher called once if the dispatcher is not subscribed any more; the caller must then ack the ticket
   * @param onOutcome called once, in the turn of the event loop in which the last message of the answer arrives, so that a cancel that
   * arrives right after a grant finds the job
   */
  claim(
    ticket: Ticket,
    ackSubject: string,
    onNoDispatcher: PendingClaim['onNoDispatcher'],
    onOutcome: PendingClaim['onOutcome'],
  ): void {
    this.#claimCount += 1;
    const id = String(this.#claimCount);
    const timer = setTimeout(() => this.#giveUp(id), answerTimeoutMs);
    const { ingress } = ticket;
    this.#pending.set(id, {
      ingress,
      onNoDispatcher,
      onOutcome,
      timer,
      grant: undefined,
      parts: [],
      receivedBytes: 0,
    });
    const claim = encodeClaim({ v: ticket.v, job: ticket.job, ticket: ackSubject });
    const { broker, address, inbox } = this.#state;
    broker.publish(broker.subjects.claim(ingress, address), claim, `${inbox}.claim.${id}`);
    this.#contacts.getOrCreate(ingress).recordSent(true);
  }

  /** Gives up all claims at a dispatcher. */
  giveUpAt(ingress: string): void {
    for (const [id, pending] of this.#pending) if (pending.ingress === ingress) this.#giveUp(id);
  }

  /** Whether the body of this grant is still on its way. */
  isReceiving(grantToken: string): boolean {
    return this.#findByGrantToken(grantToken) !== undefined;
  }

  /** Drops a grant whose body is still on its way, because the client has left. */
  dropGrant(grantToken: string): void {
    const id = this.#findByGrantToken(grantToken);
    if (id !== undefined) this.#finish(id, { kind: 'gone' });
  }

  /** Gives up all claims. Call it after the connection was lost, because all answers and bodies under way were lost with it. */
  reset(): void {
    for (const id of this.#pending.keys()) this.#giveUp(id);
    this.#givenUp.clear();
  }

  /** Handles a message that came to the inbox for the claim with this id. */
  onMessage(id: string, { data: payload, headers }: Msg): void {
    const pending = this.#pending.get(id);
    if (!pending) return this.#onLateAnswer(id, payload);
    const contact = this.#contacts.getOrCreate(pending.ingress);
    if (headers?.code === noRespondersCode) contact.recordAbsent();
    else contact.recordReceived();
    if (pending.grant) return this.#addPart(id, pending, payload);
    if (headers?.code === noRespondersCode) {
      pending.onNoDispatcher();
      return this.#finish(id, { kind: 'gone' });
    }
    const decoded = decodeClaimAnswer(payload);
    if (!decoded) return this.#giveUp(id);
    const { answer, firstPart } = decoded;
    if (answer.answer !== 'grant') return this.#finish(id, { kind: answer.answer });
    if (!this.#state.bodies.take(answer.bodyBytes)) return this.#finish(id, { kind: 'full', grant: answer });
    pending.grant = answer;
    this.#addPart(id, pending, firstPart);
  }

  /**
   * Handles the first message that comes after a claim was given up. Later messages are not read, because the parts of a body may be any
   * bytes.
   */
  #onLateAnswer(id: string, payload: Uint8Array): void {
    const ingress = this.#givenUp.get(id);
    if (ingress === undefined) return;
    this.#givenUp.delete(id);
    this.#contacts.getOrCreate(ingress).recordReceived();
    const { answer, firstPart } = decodeClaimAnswer(payload) ?? {};
    if (answer?.answer === 'grant' && firstPart) this.#onLateGrant(answer, firstPart);
  }

  /** Returns the id of the claim that is receiving the body of this grant. */
  #findByGrantToken(grantToken: string): string | undefined {
    for (const [id, { grant }] of this.#pending) if (grant && parseGrantToken(grant.reply) === grantToken) return id;
    return undefined;
  }

  #addPart(id: string, pending: PendingClaim, part: Uint8Array): void {
    const { grant } = pending;
    if (!grant) return;
    pending.parts.push(part);
    pending.receivedBytes += part.length;
    pending.timer.refresh();
    if (pending.receivedBytes >= grant.bodyBytes)
      this.#finish(id, { kind: 'grant', grant, body: concatParts(pending.parts) });
  }

  #giveUp(id: string): void {
    const { ingress, grant } = this.#pending.get(id) ?? {};
    if (ingress !== undefined && !grant) this.#givenUp.set(id, ingress);
    this.#finish(id, { kind: 'silent', grant });
  }

  #finish(id: string, outcome: ClaimOutcome): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    clearTimeout(pending.timer);
    this.#pending.delete(id);
    if (pending.grant && outcome.kind !== 'grant') this.#state.bodies.release(pending.grant.bodyBytes);
    pending.onOutcome(outcome);
  }
}

function concatParts(parts: Uint8Array[]): Buffer {
  const [first] = parts;
  return parts.length === 1 && first
    ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
    : Buffer.concat(parts);
}
