import type { Msg } from '@nats-io/transport-node';
import { RouterError } from '#shared/core/errors.ts';
import { noAckSubject, type Grant } from '../contract/claim.ts';
import { includesVersion } from '../contract/contract-range.ts';
import { encodeError } from '../contract/frame.ts';
import { decodeTicket, type Ticket } from '../contract/ticket.ts';
import { Claimer } from './claimer.ts';
import type { DispatcherContacts } from './dispatcher-contacts.ts';
import { Puller } from './puller.ts';
import type { WorkerState } from './worker-state.ts';

/** Pulls tickets while slots are free, and claims their jobs. Does not claim the jobs of a silent dispatcher. */
export class TicketClaimer {
  readonly puller: Puller;
  readonly claimer: Claimer;
  readonly #state: WorkerState;
  readonly #contacts: DispatcherContacts;
  readonly #onGrant: (grant: Grant, body: Buffer) => void;
  readonly #onClaimEnd: () => void;

  /**
   * @param onGrant called with a granted job and its whole body. The body's memory must be released in `state.bodies` when the job has
   * ended
   * @param onClaimEnd called when a claim has ended: its slot is free, or its job now uses the slot
   */
  constructor(
    state: WorkerState,
    contacts: DispatcherContacts,
    onGrant: (grant: Grant, body: Buffer) => void,
    onClaimEnd: () => void,
  ) {
    this.#state = state;
    this.#contacts = contacts;
    this.#onGrant = onGrant;
    this.#onClaimEnd = onClaimEnd;
    this.claimer = new Claimer(state, contacts, (grant, body) => this.#onLateGrant(grant, body));
    this.puller = new Puller(state, (ingress) => contacts.getOrCreate(ingress).recordSent());
  }

  close(): void {
    this.puller.close();
  }

  /** Gives up all claims and pulls, and starts over. Call it after the connection was lost. */
  reset(): void {
    this.claimer.reset();
    this.puller.reset();
  }

  /**
   * Handles a ticket that came from the queue: claims its job, or acks the ticket for another worker.
   * @param ackSubject JetStream's ack subject for the ticket
   */
  onTicket({ data, subject }: Msg, ackSubject: string): void {
    const state = this.#state;
    const hasFreeSlot = state.countFreeSlots() > 0;
    // The slot is reserved before the puller records the ticket, because the puller may then pull more tickets.
    state.takeSlot();
    const isOfOwnPool = this.puller.onTicket(subject);
    const ticket = decodeTicket(data);
    const isReadable = ticket !== undefined && includesVersion(state.contract, ticket.v);
    const isSilent = isReadable && this.#contacts.isSilent(ticket.ingress);
    if (isReadable && isOfOwnPool && hasFreeSlot && !isSilent) return this.#claim(ticket, ackSubject);
    state.freeSlot();
    // A ticket of a silent dispatcher gets no ack. JetStream delivers it again after the ack wait, which needs no dispatcher.
    if (isSilent) this.puller.pullIfFree();
    else this.puller.ack(ackSubject, isReadable ? 'back' : 'void');
  }

  /**
   * Handles a ticket that a dispatcher has sent straight to this worker. Claims its job if a slot is free. The dispatcher sends the ticket
   * again while the job waits.
   */
  onDirectTicket(data: Uint8Array): void {
    const ticket = decodeTicket(data);
    if (!ticket || !includesVersion(this.#state.contract, ticket.v) || this.#contacts.isSilent(ticket.ingress)) return;
    if (this.#state.countFreeSlots() <= 0) return;
    this.#state.takeSlot();
    this.#claim(ticket, noAckSubject);
  }

  /** Gives up all claims at a silent dispatcher, so that their slots are free at once, and chooses another dispatcher for the pulls. */
  onSilent(ingress: string): void {
    this.claimer.giveUpAt(ingress);
    this.puller.replaceDispatcher(ingress, this.#contacts.findLastActive());
  }

  /** Gives a job back that this worker has not begun, so that its dispatcher gives it to another worker. */
  giveBack({ reply }: Grant, error: RouterError): void {
    this.#state.broker.publish(`${reply}.x.0`, encodeError(error, { unbegun: true }));
  }

  #claim(ticket: Ticket, ackSubject: string): void {
    const claimedAt = performance.now();
    const onNoDispatcher = (): void => {
      if (ackSubject !== noAckSubject) this.puller.ack(ackSubject, 'done');
    };
    this.claimer.claim(ticket, ackSubject, onNoDispatcher, (outcome) => {
      this.#state.freeSlot();
      this.#state.options.meter.countClaim(outcome.kind, performance.now() - claimedAt);
      if (outcome.kind === 'grant') this.#onGrant(outcome.grant, outcome.body);
      if (outcome.kind === 'full') this.giveBack(outcome.grant, createMemoryError());
      if (outcome.kind === 'silent' && outcome.grant) {
        this.giveBack(outcome.grant, new RouterError('worker_lost', 'The request was lost on its way to the worker.'));
      }
      this.#onClaimEnd();
    });
    this.puller.pullIfFree();
  }

  /**
   * Runs a job that is granted after its claim was given up, if its whole body is here and a slot is free. Otherwise gives the job back.
   */
  #onLateGrant(grant: Grant, body: Uint8Array): void {
    const isRunnable = this.#state.countFreeSlots() > 0 && body.length === grant.bodyBytes;
    if (isRunnable && this.#state.bodies.take(grant.bodyBytes)) this.#onGrant(grant, Buffer.from(body));
    else this.giveBack(grant, new RouterError('worker_lost', 'The worker was no longer free.'));
  }
}

/** Returns the error with which a worker without memory for a body gives the job back. */
export function createMemoryError(): RouterError {
  return new RouterError('overloaded', 'The worker holds as many requests as it has memory for.', { retryAfter: 1 });
}
