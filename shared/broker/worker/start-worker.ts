import type { Msg } from '@nats-io/transport-node';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import { type Announcement } from '../contract/announcement.ts';
import { derivePoolToken } from '../contract/pool-token.ts';
import { decodeGrant, type Grant } from '../contract/claim.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { ownContract, includesVersion, type ContractRange } from '../contract/contract-range.ts';
import { announceAgain } from '../contract/heartbeats.ts';
import { slotsForTickets } from '../contract/pull.ts';
import { parseGrant } from '../contract/subjects.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import { Heartbeat } from './heartbeat.ts';
import { FrameMemory } from './frame-memory.ts';
import { DispatcherContacts } from './dispatcher-contacts.ts';
import { JobRunner } from './job-runner.ts';
import { TicketClaimer } from './ticket-taker.ts';
import type { WorkerFacts, WorkerOptions } from './worker-options.ts';

/** Milliseconds that handlers have to end after a drain that took too long has aborted their jobs. */
const settleMs = 1_000;

/**
 * A worker on the broker. It announces itself, takes an offered job or pulls a ticket when it has a free slot, claims the ticket's job,
 * and runs it.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #broker: Broker;
  readonly #jobs: JobRunner;
  readonly #bodies: MemoryBudget;
  readonly #tickets: TicketClaimer;
  readonly #contacts: DispatcherContacts;
  readonly #heartbeat: Heartbeat;
  readonly #releases: (() => void)[];
  readonly #startedAt = Date.now();
  readonly #contract: ContractRange;
  /** The subject of offers, without the pool at its end. */
  readonly #offers: string;
  #facts: WorkerFacts;
  #pool: string;
  #claiming = 0;
  #isStopping = false;
  #isDrained = false;
  /** Whether no job is begun any more, not even a granted one. */
  #hasEnded = false;
  #idle: (() => void) | undefined;

  constructor(options: WorkerOptions) {
    const { broker, log, id, tier, handler, coalesceMs, meter, tracing, contract = ownContract } = options;
    const { memory = new FrameMemory(), bodies = new MemoryBudget(Infinity), outOfReachMs = 60_000 } = options;
    const address: WorkerAddress = { tier, owner: broker.requireOwner(tier), worker: id };
    this.#options = options;
    this.#broker = broker;
    this.#bodies = bodies;
    this.#facts = options;
    this.#contract = contract;
    this.#pool = this.#poolNow();
    const inbox = `${broker.subjects.inbox(address)}.${randomUUID()}`;
    this.#offers = `${inbox}.offer`;
    const onFreed = (): void => this.#freed();
    const onSilent = (ingress: string): void => this.#tickets.onSilent(ingress);
    const contacts = new DispatcherContacts({ broker, log, inbox: `${inbox}.alive`, onSilent });
    this.#contacts = contacts;
    this.#jobs = new JobRunner({
      broker,
      log,
      handler,
      coalesceMs,
      meter,
      tracing,
      tier,
      startedAt: this.#startedAt,
      inbox: `${inbox}.alive`,
      memory,
      bodies,
      contacts,
      outOfReachMs,
      onFreed,
    });
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
      () => this.#announcement(),
      () => this.status.busy,
    );
    const onGrant = (grant: Grant, body: Buffer): void => this.#begin(grant, body);
    const onClaiming = (count: number): void => void (this.#claiming = count);
    const tickets = {
      broker,
      log,
      worker: address,
      inbox,
      contacts,
      contract,
      bodies,
      meter,
      onGrant,
      onClaiming,
      onClaimed: onFreed,
    };
    this.#tickets = new TicketClaimer({ ...tickets, free: () => this.#free() }, this.#pool);
    const sweep = setInterval(() => this.#jobs.sweep(performance.now()), 500);
    this.#releases = [
      ...subscriptions.map((subscription) => () => subscription.unsubscribe()),
      () => contacts.close(),
      broker.onReconnect(() => {
        contacts.reset();
        this.#tickets.reset();
      }),
      () => clearInterval(sweep),
    ];
  }

  get busy(): number {
    return this.#jobs.size + this.#claiming;
  }

  /** The part of the announcement that changes with the worker's load. */
  get status(): Pick<Announcement, 'slots' | 'busy' | 'accepting' | 'reason'> & { draining: boolean } {
    const { slots, accepting, reason } = this.#facts;
    return {
      slots,
      busy: Math.min(this.busy, slots),
      accepting,
      draining: this.#isStopping || this.#isDrained,
      reason,
    };
  }

  /** Changes what the worker announces and announces it at once. */
  update(change: Partial<WorkerFacts>): void {
    if (this.#facts.accepting && change.accepting === false) this.#options.meter.countStop();
    this.#facts = { ...this.#facts, reason: undefined, resumesAt: undefined, ...change };
    const pool = this.#poolNow();
    const moves = pool !== this.#pool;
    this.#pool = pool;
    this.#heartbeat.now();
    if (moves) this.#tickets.puller.setPool(pool);
    else this.#tickets.puller.pullIfFree();
  }

  /**
   * Takes no new jobs and waits until the running ones have ended, for at most `ms` milliseconds. Then ends the remaining jobs with an
   * error.
   */
  async drain(ms: number): Promise<void> {
    this.#isStopping = true;
    this.#heartbeat.now();
    if (this.busy > 0) await this.#becomeIdle(ms);
    this.#hasEnded = true;
    this.#jobs.endAll(restarting());
    // The handlers' errors still have to be sent.
    if (this.busy > 0) await this.#becomeIdle(settleMs);
  }

  /** Sends `goodbye` and releases its subscriptions. Call `drain` before. */
  async close(): Promise<void> {
    this.#tickets.close();
    this.#heartbeat.stop();
    for (const release of this.#releases) release();
    if (this.#broker.connected) await Promise.race([this.#broker.flush(), sleep(1_000, undefined, { ref: false })]);
  }

  async #becomeIdle(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }

  #poolNow(): string {
    return derivePoolToken({ ...this.#options, ...this.#facts, contract: this.#contract });
  }

  #free(): number {
    if (this.#isStopping || this.#isDrained || !this.#facts.accepting || !this.#broker.connected) return 0;
    return this.#facts.slots - this.busy;
  }

  #announcement(): Announcement {
    const { id, tier, formats, version } = this.#options;
    const { models, tools = [], resumesAt } = this.#facts;
    return {
      ...this.status,
      v: this.#contract.newest,
      oldest: this.#contract.oldest,
      worker: id,
      tier,
      pool: this.#pool,
      models,
      tools,
      formats: [...formats],
      accepting: this.status.accepting && !this.status.draining,
      resumesAt,
      offersAt: `${this.#offers}.${this.#pool}`,
      host: hostname(),
      version,
      startedAt: this.#startedAt,
    };
  }

  // ---- tickets and claims

  /** Tickets come with the subject that they were published to; answers to pulls and claims come with a subject of the inbox. */
  #onInbox(message: Msg, inboxLength: number): void {
    const [kind, name, detail] = message.subject.slice(inboxLength + 1).split('.');
    if (message.reply?.startsWith('$JS.ACK.')) this.#tickets.onTicket(message, message.reply);
    else if (kind === 'pull' && name === 'lanes') this.#tickets.puller.onLanes(detail ?? '', message);
    else if (kind === 'pull' && name !== undefined) this.#tickets.puller.onStatus(name, Number(detail), message);
    else if (kind === 'claim' && name !== undefined) this.#tickets.claimer.onMessage(name, message);
    else if (kind === 'offer' && message.reply) this.#onOffer(message, name);
    else if (kind === 'offer' && name === this.#pool) this.#tickets.onDirectTicket(message.data);
    else if (kind === 'alive' && !this.#contacts.onEcho(name ?? '', message))
      this.#jobs.onAliveAnswer(parseGrant(message.subject), message);
  }

  /**
   * Takes an offered job if the worker waits for tickets in all its lanes. In any other state of a lane, requests may wait there, and
   * they come first. A refusal is an empty frame.
   */
  #onOffer({ data, reply }: Msg, pool: string | undefined): void {
    const hasRoom =
      pool === this.#pool && this.#free() > slotsForTickets(this.#facts) && this.#tickets.puller.isWaiting;
    const offer = hasRoom ? decodeGrant(data) : undefined;
    const isReadable = offer !== undefined && includesVersion(this.#contract, offer.grant.v);
    const isTaken = isReadable && this.#bodies.take(offer.grant.bodyBytes);
    this.#options.meter.countOffer(isTaken ? 'taken' : 'refused');
    if (isTaken) this.#begin(offer.grant, offer.body, true);
    else if (reply) this.#broker.publish(reply, '');
  }

  #begin(grant: Grant, body: Buffer, isOffered = false): void {
    if (!this.#hasEnded) return this.#jobs.run(grant, body, isOffered);
    this.#bodies.release(grant.bodyBytes);
    this.#tickets.giveBack(grant, restarting());
  }

  #freed(): void {
    if (this.busy === 0) this.#idle?.();
    // The worker was full until now. Dispatchers that still count it as full would send requests to other tiers.
    if (this.busy === this.#facts.slots - 1) this.#heartbeat.sendSoon();
    this.#tickets.puller.pullIfFree();
  }

  /** Cancels a job by its grant, because the same job may run here again in another attempt. */
  #onCancel(payload: Uint8Array): void {
    const grant = parseGrant(Buffer.from(payload).toString());
    if (!this.#jobs.cancel(grant)) this.#tickets.claimer.drop(grant);
  }

  /**
   * Answers a dispatcher that misses the announcement or frames, or has received no frame for long. While the body is still under way there
   * are no frames yet, so the answer is a keep-alive.
   */
  #onRetransmit(payload: Uint8Array): void {
    const text = Buffer.from(payload).toString();
    if (text === announceAgain) return this.#heartbeat.again();
    const [reply = '', from = ''] = text.split(' ');
    if (this.#tickets.claimer.isReceiving(parseGrant(reply))) this.#broker.publish(`${reply}.k.0`, '');
    else this.#jobs.retransmit(reply, Number(from));
  }

  /** Handles an operator's command. Running jobs go on. A restarted worker is not drained any more. */
  #onDrain(payload: Uint8Array): void {
    const command = Buffer.from(payload).toString();
    if (command !== 'drain' && command !== 'undrain') return;
    this.#isDrained = command === 'drain';
    this.#options.log.info(
      { busy: this.busy },
      this.#isDrained ? 'drained by an operator' : 'undrained by an operator',
    );
    this.#heartbeat.now();
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

function restarting(): RouterError {
  return new RouterError('shutting_down', 'The worker is being restarted.');
}
