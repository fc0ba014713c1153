import type { Msg } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import { decodeGrant, type Grant } from '../contract/claim.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { includesVersion } from '../contract/contract-range.ts';
import { announceAgainPayload } from '../contract/heartbeats.ts';
import { countTicketSlots } from '../contract/pull.ts';
import { parseGrantToken } from '../contract/subjects.ts';
import { computeTextMemory } from '#shared/core/text-memory.ts';
import { Heartbeat } from './heartbeat.ts';
import { DispatcherContacts } from './dispatcher-contacts.ts';
import { JobRunner } from './job-runner.ts';
import { createMemoryError, TicketClaimer } from './ticket-claimer.ts';
import type { WorkerFacts, WorkerOptions } from './worker-options.ts';
import { WorkerState } from './worker-state.ts';

/**
 * The part of the memory for bodies that the text of one body takes at most, unless the body itself has more bytes. So small bodies have
 * room beside it.
 */
const maxPartOfText = 7 / 8;

/** Milliseconds that handlers have to settle after their jobs were aborted, because the drain took too long. */
const settleMs = 1_000;

/**
 * A worker on the broker. It announces itself. While it has a free slot, it accepts offered jobs, and pulls tickets and claims their jobs.
 * It runs each job with the handler.
 */
export class Worker {
  readonly #state: WorkerState;
  readonly #broker: Broker;
  readonly #jobs: JobRunner;
  readonly #tickets: TicketClaimer;
  readonly #contacts: DispatcherContacts;
  readonly #heartbeat: Heartbeat;
  readonly #cleanups: (() => void)[];
  /** Whether the worker begins no further job, not even a granted one. */
  #hasEnded = false;
  #onIdle: (() => void) | undefined;

  constructor(options: WorkerOptions) {
    const { broker, log } = options;
    const state = new WorkerState(options);
    const { address, inbox } = state;
    this.#state = state;
    this.#broker = broker;
    const onFreed = (): void => this.#onSlotFreed();
    const onSilent = (ingress: string): void => this.#tickets.onSilent(ingress);
    const contacts = new DispatcherContacts(broker, log, `${inbox}.alive`, onSilent);
    this.#contacts = contacts;
    this.#jobs = new JobRunner(state, contacts, onFreed);
    const { subjects } = broker;
    const subscriptions = [
      broker.subscribe(`${inbox}.>`, (message) => this.#onInbox(message, inbox.length)),
      broker.subscribe(subjects.cancel(address), ({ data }) => this.#onCancel(data)),
      broker.subscribe(subjects.retransmit(address), ({ data }) => this.#onRetransmit(data)),
      broker.subscribe(subjects.drain(address), ({ data }) => this.#onDrain(data)),
    ];
    this.#heartbeat = new Heartbeat(
      broker,
      address,
      () => state.createAnnouncement(),
      () => state.status.busy,
    );
    const onGrant = (grant: Grant, body: Buffer): void => this.#onGrant(grant, body);
    this.#tickets = new TicketClaimer(state, contacts, onGrant, onFreed);
    const sweep = setInterval(() => this.#jobs.sweep(performance.now()), 500);
    this.#cleanups = [
      ...subscriptions.map((subscription) => () => subscription.unsubscribe()),
      () => contacts.close(),
      broker.onReconnect(() => {
        contacts.reset();
        this.#tickets.reset();
      }),
      () => clearInterval(sweep),
    ];
  }

  /** The number of slots in use, see `WorkerState`. */
  get busy(): number {
    return this.#state.busy;
  }

  /** See `WorkerState`. */
  get status(): WorkerState['status'] {
    return this.#state.status;
  }

  /** Changes the announcement, and sends it at once. `reason` and `resumesAt` are removed unless `change` contains them. */
  update(change: Partial<WorkerFacts>): void {
    const state = this.#state;
    if (state.facts.accepting && change.accepting === false) state.options.meter.countStop();
    const { pool } = state;
    state.update(change);
    this.#heartbeat.announce();
    if (state.pool === pool) this.#tickets.puller.pullIfFree();
    else this.#tickets.puller.reset();
  }

  /**
   * Stops taking new jobs, and waits at most `timeoutMs` milliseconds until the running jobs have ended. Then ends the remaining jobs with
   * the error `shutting_down`.
   */
  async drain(timeoutMs: number): Promise<void> {
    this.#state.stop();
    this.#heartbeat.announce();
    if (this.busy > 0) await this.#waitUntilIdle(timeoutMs);
    this.#hasEnded = true;
    this.#jobs.endAll(createRestartError());
    // The errors of the ended jobs still have to be sent.
    if (this.busy > 0) await this.#waitUntilIdle(settleMs);
  }

  /** Sends `goodbye` and ends the subscriptions. Call `drain` before. */
  async close(): Promise<void> {
    this.#tickets.close();
    this.#heartbeat.stop();
    for (const cleanUp of this.#cleanups) cleanUp();
    if (this.#broker.connected) await Promise.race([this.#broker.flush(), sleep(1_000, undefined, { ref: false })]);
  }

  async #waitUntilIdle(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const timer = setTimeout(resolve, timeoutMs);
    await promise;
    clearTimeout(timer);
  }

  // ---- tickets and claims

  /**
   * Handles a message that came to the inbox. A ticket has the subject to which it was published; all other messages have a subject of the
   * inbox.
   */
  #onInbox(message: Msg, inboxLength: number): void {
    const [kind, name, detail] = message.subject.slice(inboxLength + 1).split('.');
    if (message.reply?.startsWith('$JS.ACK.')) this.#tickets.onTicket(message, message.reply);
    else if (kind === 'pull' && name === 'lanes') this.#tickets.puller.onLanes(detail ?? '', message);
    else if (kind === 'pull' && name !== undefined) this.#tickets.puller.onStatus(name, Number(detail), message);
    else if (kind === 'claim' && name !== undefined) this.#tickets.claimer.onMessage(name, message);
    else if (kind === 'offer' && message.reply) this.#onOffer(message, name);
    else if (kind === 'offer' && name === this.#state.pool) this.#tickets.onDirectTicket(message.data);
    else if (kind === 'alive' && !this.#contacts.onEcho(name ?? '', message))
      this.#jobs.onAliveAnswer(parseGrantToken(message.subject), message);
  }

  /**
   * Accepts an offered job if a slot and memory are free for it and the worker waits for tickets in all its lanes. Otherwise, requests may
   * wait in a lane and come first. A refusal is an empty frame.
   */
  #onOffer({ data, reply }: Msg, pool: string | undefined): void {
    const { bodies, contract, facts, options } = this.#state;
    const hasRoom =
      pool === this.#state.pool &&
      this.#state.countFreeSlots() > countTicketSlots(facts) &&
      this.#tickets.puller.isWaiting;
    const offer = hasRoom ? decodeGrant(data) : undefined;
    const isReadable = offer !== undefined && includesVersion(contract, offer.grant.v);
    const heldBytes = isReadable ? this.#computeHeldBytes(offer.grant, offer.body) : 0;
    const isAccepted = isReadable && bodies.take(heldBytes);
    options.meter.countOffer(isAccepted ? 'taken' : 'refused');
    if (isAccepted) this.#beginJob(offer.grant, offer.body, { heldBytes, isOffered: true });
    else if (reply) this.#broker.publish(reply, '');
  }

  /** Handles a claimed job. Memory for the bytes of its body is taken; its text may need more. */
  #onGrant(grant: Grant, body: Buffer): void {
    const heldBytes = this.#computeHeldBytes(grant, body);
    if (heldBytes > grant.bodyBytes) {
      this.#state.bodies.release(grant.bodyBytes);
      if (!this.#state.bodies.take(heldBytes)) return this.#tickets.giveBack(grant, createMemoryError());
    }
    this.#beginJob(grant, body, { heldBytes, isOffered: false });
  }

  /** Computes the bytes of memory that a job's body needs while the job runs. */
  #computeHeldBytes({ bodyBytes }: Grant, body: Buffer): number {
    return Math.max(bodyBytes, Math.min(computeTextMemory(body), this.#state.bodies.max * maxPartOfText));
  }

  /** Begins a job for whose body memory is taken. */
  #beginJob(grant: Grant, body: Buffer, options: { heldBytes: number; isOffered: boolean }): void {
    if (!this.#hasEnded) return this.#jobs.run(grant, body, options);
    this.#state.bodies.release(options.heldBytes);
    this.#tickets.giveBack(grant, createRestartError());
  }

  /** Handles a slot that has become free, or a claim that has become a job. */
  #onSlotFreed(): void {
    if (this.busy === 0) this.#onIdle?.();
    // The worker was full until now. Without a report, dispatchers would send requests to other tiers.
    if (this.busy === this.#state.facts.slots - 1) this.#heartbeat.sendShortSoon();
    this.#tickets.puller.pullIfFree();
  }

  /**
   * Cancels the job of a grant. The message names the grant instead of the job, because the same job may run here again in another attempt.
   */
  #onCancel(payload: Uint8Array): void {
    const grant = parseGrantToken(Buffer.from(payload).toString());
    if (!this.#jobs.cancel(grant)) this.#tickets.claimer.dropGrant(grant);
  }

  /**
   * Answers a dispatcher that misses the announcement or frames, or that has received no frame for long. While the job's body is still on
   * its way, there are no frames yet, and a keep-alive is the answer.
   */
  #onRetransmit(payload: Uint8Array): void {
    const text = Buffer.from(payload).toString();
    if (text === announceAgainPayload) return this.#heartbeat.announceSoon();
    const [reply = '', from = ''] = text.split(' ');
    if (this.#tickets.claimer.isReceiving(parseGrantToken(reply))) this.#broker.publish(`${reply}.k.0`, '');
    else this.#jobs.retransmit(reply, Number(from));
  }

  /** Handles an operator's command to drain or undrain the worker. Running jobs continue. A restart of the worker ends the drain. */
  #onDrain(payload: Uint8Array): void {
    const command = Buffer.from(payload).toString();
    if (command !== 'drain' && command !== 'undrain') return;
    const isDrained = command === 'drain';
    this.#state.setDrained(isDrained);
    this.#state.log.info({ busy: this.busy }, isDrained ? 'drained by an operator' : 'undrained by an operator');
    this.#heartbeat.announce();
    this.#tickets.puller.pullIfFree();
  }
}

/**
 * Starts a worker on the broker.
 * @throws ConfigError if the broker's credential is for another tier
 */
export function startWorker(options: WorkerOptions): Worker {
  return new Worker(options);
}

function createRestartError(): RouterError {
  return new RouterError('shutting_down', 'The worker is being restarted.');
}
