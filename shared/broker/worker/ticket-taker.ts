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

export interface TicketTakerOptions {
  broker: Broker;
  log: Logger;
  worker: WorkerAddress;
  /** The subject prefix of the worker's own inbox. */
  inbox: string;
  contacts: DispatcherContacts;
  contract: ContractRange;
  bodies: MemoryBudget;
  meter: WorkerMeter;
  /** Returns the slots that are free right now; 0 while the worker takes no jobs. */
  free: () => number;
  /** Called with a granted job and its complete body. The receiver releases the body's memory in `bodies` when the job has ended. */
  onGrant: (grant: Grant, body: Buffer) => void;
  /** Called when the number of claims under way changes; each claim uses a slot. */
  onClaiming: (count: number) => void;
  /** Called when a claim has freed its slot, or its job uses the slot from now on. */
  onClaimed: () => void;
}

/** Pulls tickets while slots are free, and claims their jobs. Sets tickets of a silent dispatcher aside. */
export class TicketClaimer {
  readonly puller: Puller;
  readonly claimer: Claimer;
  readonly #options: TicketTakerOptions;
  #claiming = 0;

  /** @param pool the pool that the worker has announced */
  constructor(options: TicketTakerOptions, pool: string) {
    const { broker, log, worker, inbox, contacts, bodies, free } = options;
    this.#options = options;
    const onLateGrant = (grant: Grant, body: Uint8Array): void => this.#onLateGrant(grant, body);
    this.claimer = new Claimer({ broker, worker, inbox: `${inbox}.claim`, contacts, bodies, onLateGrant });
    const onPull = (ingress: string): void => contacts.at(ingress).recordSent();
    this.puller = new Puller({ broker, log, worker, inbox: `${inbox}.pull`, free, onPull }, pool);
  }

  close(): void {
    this.puller.close();
  }

  /** Gives up all claims and pulls, and starts over. Call it after the connection was lost. */
  reset(): void {
    this.claimer.reset();
    this.puller.reset();
  }

  onTicket({ data, subject }: Msg, ackTo: string): void {
    const { contract, contacts, free } = this.#options;
    const isFree = free() > 0;
    // The slot is reserved before the puller counts the ticket, because the count may make the puller pull more.
    this.#addClaims(1);
    const isOwn = this.puller.onTicket(subject);
    const ticket = decodeTicket(data);
    const isReadable = ticket !== undefined && includesVersion(contract, ticket.v);
    const isSilent = isReadable && contacts.isSilent(ticket.ingress);
    if (isReadable && isOwn && isFree && !isSilent) return this.#claim(ticket, ackTo);
    this.#addClaims(-1);
    // Without an ack, a ticket that is set aside comes back after JetStream's ack wait, which needs no dispatcher.
    if (isSilent) this.puller.pullIfFree();
    else this.puller.ack(ackTo, isReadable ? 'back' : 'void');
  }

  /**
   * Takes a ticket that a dispatcher has sent straight to this worker, if a slot is free. The dispatcher sends it again while the job
   * waits.
   */
  onDirectTicket(data: Uint8Array): void {
    const { contract, contacts, free } = this.#options;
    const ticket = decodeTicket(data);
    if (!ticket || !includesVersion(contract, ticket.v) || contacts.isSilent(ticket.ingress) || free() <= 0) return;
    this.#addClaims(1);
    this.#claim(ticket, noAckSubject);
  }

  /** Frees the slots of all claims at a silent dispatcher at once, and chooses another dispatcher for the pulls. */
  onSilent(ingress: string): void {
    this.claimer.giveUp(ingress);
    this.puller.replaceDispatcher(ingress, this.#options.contacts.lastActive());
  }

  /** Returns a job that this worker has not begun to its dispatcher, for another worker. */
  giveBack({ reply }: Grant, error: RouterError): void {
    this.#options.broker.publish(`${reply}.x.0`, encodeError(error, { unbegun: true }));
  }

  #addClaims(count: number): void {
    this.#claiming += count;
    this.#options.onClaiming(this.#claiming);
  }

  #claim(ticket: Ticket, ackTo: string): void {
    const { meter, onGrant, onClaimed } = this.#options;
    const takenAt = performance.now();
    const onNobody = (): void => {
      if (ackTo !== noAckSubject) this.puller.ack(ackTo, 'done');
    };
    this.claimer.claim(ticket, ackTo, onNobody, (outcome) => {
      this.#addClaims(-1);
      meter.countClaim(outcome.kind, performance.now() - takenAt);
      if (outcome.kind === 'grant') onGrant(outcome.grant, outcome.body);
      if (outcome.kind === 'full') this.giveBack(outcome.grant, bodiesFull());
      if (outcome.kind === 'silent' && outcome.grant) {
        this.giveBack(outcome.grant, new RouterError('worker_lost', 'The request was lost on its way to the worker.'));
      }
      onClaimed();
    });
    this.puller.pullIfFree();
  }

  /** Runs a job whose claim was given up, if its whole body is here and a slot is still free. No other worker has the job. */
  #onLateGrant(grant: Grant, body: Uint8Array): void {
    const { free, bodies, onGrant } = this.#options;
    const isRunnable = free() > 0 && body.length === grant.bodyBytes;
    if (isRunnable && bodies.take(grant.bodyBytes)) onGrant(grant, Buffer.from(body));
    else this.giveBack(grant, new RouterError('worker_lost', 'The worker was no longer free.'));
  }
}

function bodiesFull(): RouterError {
  return new RouterError('overloaded', 'The worker holds as many requests as it has memory for.', { retryAfter: 1 });
}
