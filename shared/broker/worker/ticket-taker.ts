import type { Msg } from '@nats-io/transport-node';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { handedOver, type Grant } from '../contract/claim.ts';
import { speaks, type ContractRange } from '../contract/contract-range.ts';
import { encodeError } from '../contract/frame.ts';
import { decodeTicket, type Ticket } from '../contract/ticket.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';
import { Claimer } from './claimer.ts';
import type { IngressContacts } from './ingress-contacts.ts';
import { Puller } from './puller.ts';
import type { WorkerMeter } from './worker-meter.ts';

export interface TicketTakerOptions {
  broker: Broker;
  log: Logger;
  worker: WorkerAddress;
  /** Subject prefix of the worker's own inbox. */
  inbox: string;
  contacts: IngressContacts;
  contract: ContractRange;
  bodies: MemoryBudget;
  meter: WorkerMeter;
  /** Slots that are free right now; 0 while the worker takes nothing. */
  free: () => number;
  /** Called with a granted job, body complete. Its room among the bodies is given back when it is over. */
  onGrant: (grant: Grant, body: Buffer) => void;
  /** Called with the number of claims under way, each of which holds a slot, when it changes. */
  onClaiming: (count: number) => void;
  /** Called when a claim has given its slot back, or its job has taken it over. */
  onClaimed: () => void;
}

/** Pulls tickets while slots are free, and claims their jobs. A ticket of an ingress that is silent is set aside. */
export class TicketTaker {
  readonly puller: Puller;
  readonly claimer: Claimer;
  readonly #options: TicketTakerOptions;
  #claiming = 0;

  /** @param pool that the worker has announced */
  constructor(options: TicketTakerOptions, pool: string) {
    const { broker, log, worker, inbox, contacts, bodies, free } = options;
    this.#options = options;
    const onLateGrant = (grant: Grant, body: Uint8Array): void => this.#onLateGrant(grant, body);
    this.claimer = new Claimer({ broker, worker, inbox: `${inbox}.claim`, contacts, bodies, onLateGrant });
    const onPull = (ingress: string): void => contacts.at(ingress).sent();
    this.puller = new Puller({ broker, log, worker, inbox: `${inbox}.pull`, free, onPull }, pool);
  }

  close(): void {
    this.puller.close();
  }

  /** Begins anew: the connection was lost. */
  reset(): void {
    this.claimer.reset();
    this.puller.reset();
  }

  onTicket({ data, subject }: Msg, ackTo: string): void {
    const { contract, contacts, free } = this.#options;
    const isFree = free() > 0;
    // The slot is taken before the puller counts the ticket, because counting it may make the puller ask for more.
    this.#addClaims(1);
    const isOwn = this.puller.onTicket(subject);
    const ticket = decodeTicket(data);
    const isReadable = ticket !== undefined && speaks(contract, ticket.v);
    const isSilent = isReadable && contacts.isSilent(ticket.ingress);
    if (isReadable && isOwn && isFree && !isSilent) return this.#claim(ticket, ackTo);
    this.#addClaims(-1);
    // Without an ack, a ticket that is set aside comes back after JetStream's ack wait, and no ingress is needed for it.
    if (isSilent) this.puller.pullIfFree();
    else this.puller.ack(ackTo, isReadable ? 'back' : 'void');
  }

  /** Takes a ticket that an ingress has sent itself, if a slot is free. It comes again while the job waits. */
  onHanded(data: Uint8Array): void {
    const { contract, contacts, free } = this.#options;
    const ticket = decodeTicket(data);
    if (!ticket || !speaks(contract, ticket.v) || contacts.isSilent(ticket.ingress) || free() <= 0) return;
    this.#addClaims(1);
    this.#claim(ticket, handedOver);
  }

  /** Claims at a silent ingress give their slots back, all at once, and another ingress hands the pulls on. */
  onSilent(ingress: string): void {
    this.claimer.giveUp(ingress);
    this.puller.leave(ingress, this.#options.contacts.liveliest());
  }

  /** Gives back a job that was never begun here, for another worker. */
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
      if (ackTo !== handedOver) this.puller.ack(ackTo, 'done');
    };
    this.claimer.claim(ticket, ackTo, onNobody, (outcome) => {
      this.#addClaims(-1);
      meter.claimed(outcome.kind, performance.now() - takenAt);
      if (outcome.kind === 'grant') onGrant(outcome.grant, outcome.body);
      if (outcome.kind === 'full') this.giveBack(outcome.grant, full());
      if (outcome.kind === 'silent' && outcome.grant) {
        this.giveBack(outcome.grant, new RouterError('worker_lost', 'The request was lost on its way to the worker.'));
      }
      onClaimed();
    });
    this.puller.pullIfFree();
  }

  /** The claim was given up, but nobody else has the job: it runs if its whole body is here and a slot is still free. */
  #onLateGrant(grant: Grant, body: Uint8Array): void {
    const { free, bodies, onGrant } = this.#options;
    const isRunnable = free() > 0 && body.length === grant.bodyBytes;
    if (isRunnable && bodies.take(grant.bodyBytes)) onGrant(grant, Buffer.from(body));
    else this.giveBack(grant, new RouterError('worker_lost', 'The worker was no longer free.'));
  }
}

function full(): RouterError {
  return new RouterError('overloaded', 'The worker holds as many requests as it has memory for.', { retryAfter: 1 });
}
