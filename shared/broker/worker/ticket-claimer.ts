import type { Msg } from '@nats-io/transport-node';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { noAckSubject, type Grant } from '../contract/claim.ts';
import { includesVersion, type ContractRange } from '../contract/contract-range.ts';
import { encodeError } from '../contract/frame.ts';
import { decodeTicket, type Ticket } from '../contract/ticket.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';
import { Claimer } from './claimer.ts';
import type { DispatcherContacts } from './dispatcher-contacts.ts';
import { Puller } from './puller.ts';
import type { WorkerMeter } from './worker-meter.ts';

export interface TicketClaimerOptions {
  broker: Broker;
  log: Logger;
  worker: WorkerAddress;
  /** The subject prefix of the worker's own inbox. */
  inbox: string;
  contacts: DispatcherContacts;
  contract: ContractRange;
  bodies: MemoryBudget;
  meter: WorkerMeter;
  /** Returns the number of slots that are free right now; 0 while the worker takes no jobs. */
  countFreeSlots: () => number;
  /** Called with a granted job and its whole body. The body's memory must be released in `bodies` when the job has ended. */
  onGrant: (grant: Grant, body: Buffer) => void;
  /** Called with the number of claims under way when it changes. Each claim uses a slot. */
  onClaimCount: (count: number) => void;
  /** Called when a claim has ended: its slot is free, or its job now uses the slot. */
  onClaimEnd: () => void;
}

/** Pulls tickets while slots are free, and claims their jobs. Does not claim the jobs of a silent dispatcher. */
export class TicketClaimer {
  readonly puller: Puller;
  readonly claimer: Claimer;
  readonly #options: TicketClaimerOptions;
  #claimCount = 0;

  /** @param pool the pool that the worker has announced */
  constructor(options: TicketClaimerOptions, pool: string) {
    const { broker, log, worker, inbox, contacts, bodies, countFreeSlots } = options;
    this.#options = options;
    const onLateGrant = (grant: Grant, body: Uint8Array): void => this.#onLateGrant(grant, body);
    this.claimer = new Claimer({ broker, worker, inbox: `${inbox}.claim`, contacts, bodies, onLateGrant });
    const onPull = (ingress: string): void => contacts.getOrCreate(ingress).recordSent();
    this.puller = new Puller({ broker, log, worker, inbox: `${inbox}.pull`, countFreeSlots, onPull }, pool);
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
    const { contract, contacts, countFreeSlots } = this.#options;
    const hasFreeSlot = countFreeSlots() > 0;
    // The slot is reserved before the puller records the ticket, because the puller may then pull more tickets.
    this.#addClaims(1);
    const isOfOwnPool = this.puller.onTicket(subject);
    const ticket = decodeTicket(data);
    const isReadable = ticket !== undefined && includesVersion(contract, ticket.v);
    const isSilent = isReadable && contacts.isSilent(ticket.ingress);
    if (isReadable && isOfOwnPool && hasFreeSlot && !isSilent) return this.#claim(ticket, ackSubject);
    this.#addClaims(-1);
    // A ticket of a silent dispatcher gets no ack. JetStream delivers it again after the ack wait, which needs no dispatcher.
    if (isSilent) this.puller.pullIfFree();
    else this.puller.ack(ackSubject, isReadable ? 'back' : 'void');
  }

  /**
   * Handles a ticket that a dispatcher has sent straight to this worker. Claims its job if a slot is free. The dispatcher sends the ticket
   * again while the job waits.
   */
  onDirectTicket(data: Uint8Array): void {
    const { contract, contacts, countFreeSlots } = this.#options;
    const ticket = decodeTicket(data);
    if (!ticket || !includesVersion(contract, ticket.v) || contacts.isSilent(ticket.ingress) || countFreeSlots() <= 0)
      return;
    this.#addClaims(1);
    this.#claim(ticket, noAckSubject);
  }

  /** Gives up all claims at a silent dispatcher, so that their slots are free at once, and chooses another dispatcher for the pulls. */
  onSilent(ingress: string): void {
    this.claimer.giveUpAt(ingress);
    this.puller.replaceDispatcher(ingress, this.#options.contacts.findLastActive());
  }

  /** Gives a job back that this worker has not begun, so that its dispatcher gives it to another worker. */
  giveBack({ reply }: Grant, error: RouterError): void {
    this.#options.broker.publish(`${reply}.x.0`, encodeError(error, { unbegun: true }));
  }

  #addClaims(count: number): void {
    this.#claimCount += count;
    this.#options.onClaimCount(this.#claimCount);
  }

  #claim(ticket: Ticket, ackSubject: string): void {
    const { meter, onGrant, onClaimEnd } = this.#options;
    const claimedAt = performance.now();
    const onNoDispatcher = (): void => {
      if (ackSubject !== noAckSubject) this.puller.ack(ackSubject, 'done');
    };
    this.claimer.claim(ticket, ackSubject, onNoDispatcher, (outcome) => {
      this.#addClaims(-1);
      meter.countClaim(outcome.kind, performance.now() - claimedAt);
      if (outcome.kind === 'grant') onGrant(outcome.grant, outcome.body);
      if (outcome.kind === 'full') this.giveBack(outcome.grant, createMemoryError());
      if (outcome.kind === 'silent' && outcome.grant) {
        this.giveBack(outcome.grant, new RouterError('worker_lost', 'The request was lost on its way to the worker.'));
      }
      onClaimEnd();
    });
    this.puller.pullIfFree();
  }

  /**
   * Runs a job that is granted after its claim was given up, if its whole body is here and a slot is free. Otherwise gives the job back.
   */
  #onLateGrant(grant: Grant, body: Uint8Array): void {
    const { countFreeSlots, bodies, onGrant } = this.#options;
    const isRunnable = countFreeSlots() > 0 && body.length === grant.bodyBytes;
    if (isRunnable && bodies.take(grant.bodyBytes)) onGrant(grant, Buffer.from(body));
    else this.giveBack(grant, new RouterError('worker_lost', 'The worker was no longer free.'));
  }
}

/** Returns the error with which a worker without memory for a body gives the job back. */
export function createMemoryError(): RouterError {
  return new RouterError('overloaded', 'The worker holds as many requests as it has memory for.', { retryAfter: 1 });
}
