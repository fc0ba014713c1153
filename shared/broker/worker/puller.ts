import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';
import { noResponders, type Broker } from '../connection/connect-broker.ts';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { awaitedTickets, encodePull, type Pull } from '../contract/pull.ts';
import { encodeAck, type AckKind } from '../contract/ack.ts';
import { isPriorityClass, type Lane } from '../contract/subjects.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';
import { classOrder } from './class-order.ts';

/** Milliseconds that a pull waits for tickets at the server. */
const expiresMs = 30_000;

/**
 * Milliseconds between the server's signs of life while a pull waits. For each the server goes through all that wait in the
 * lane: with 1,000 idle workers in one pool, every 3 seconds, that is a seventh of a core for each lane (nats-server 2.9).
 */
const heartbeatMs = 5_000;

/**
 * Milliseconds without one after which a pull is taken for forgotten: one that comes while a cluster of servers chooses who
 * keeps its lane is kept by none, and none says so.
 */
const silentMs = heartbeatMs + 2_000;

/** Milliseconds after which a pull that the server never ended is taken for forgotten, when there are no signs of life. */
const forgottenMs = expiresMs + 3_000;

/** Status of the server's sign of life for a pull that waits. */
const heartbeat = 100;

/** Milliseconds until an empty-handed server has to have said so. */
const scanAnswerMs = 1_000;

/** Milliseconds until its ingress has to have said that a pull waits: one that stands still is left for another. */
const heardMs = 1_000;

/** Milliseconds before an ingress is asked again for lanes that cannot be read. */
const askAgainMs = 250;

/**
 * One lane, as its pulls see it.
 *
 * - `empty`: nothing is asked of the server.
 * - `scanning`: one pull that does not wait is under way; `open` counts what it may still deliver.
 * - `waiting`: pulls wait at the server; `open` counts what they may still deliver.
 * - `broken`: the consumer is missing, and an ingress is asked to make it.
 *
 * `number` is that of its last pull: what is said to an earlier one, which may still wait at the server, is not of this one.
 */
interface LanePull {
  lane: Lane;
  state: 'empty' | 'scanning' | 'waiting' | 'broken';
  number: number;
  open: number;
  deadline: number;
}

export interface PullerOptions {
  broker: Pick<Broker, 'subjects' | 'connected' | 'publish' | 'publishUnhurried' | 'roundTripMs'>;
  log: Logger;
  worker: WorkerAddress;
  /** Subject prefix of the worker's own inbox for what the server says to pulls. */
  inbox: string;
  /** Slots that are free right now; 0 while the worker takes nothing. */
  free: () => number;
}

/**
 * Pulls tickets for one worker, by hand: recovers from a broker restart within a fraction of a second, and never hoards.
 *
 * Lanes in which tickets came are scanned when a slot is free, in class order and with pulls that do not wait, so that a
 * backlog drains in that order. When all are empty it waits in all of them at once, for one ticket in each; whatever comes
 * first is taken.
 */
export class Puller {
  readonly #broker: PullerOptions['broker'];
  readonly #log: Logger;
  readonly #worker: WorkerAddress;
  readonly #inbox: string;
  readonly #free: () => number;
  readonly #timer: NodeJS.Timeout;
  #lanes = new Map<PriorityClass, LanePull>();
  #pool: string;
  /** The ingress that hands its wishes on. */
  #ingress = '';
  /** Runs for a while after an ingress was asked for lanes, answered or not. */
  #asked: NodeJS.Timeout | undefined;
  /** Pulls that were made so far. */
  #pulls = 0;
  #scans = 0;
  #scanOrder: PriorityClass[] = [];
  /** Whether the server is asked if it stands still. */
  #judging = false;
  #closed = false;

  /** @param pool that the worker has announced */
  constructor({ broker, log, worker, inbox, free }: PullerOptions, pool: string) {
    this.#broker = broker;
    this.#log = log;
    this.#worker = worker;
    this.#inbox = inbox;
    this.#free = free;
    this.#pool = pool;
    this.#timer = setInterval(() => this.#watch(), 500);
    this.moveTo(pool);
  }

  /**
   * Pulls from another pool's lanes from now on, which the worker has announced before. Tickets of the old ones that still
   * come are not its own any more.
   */
  moveTo(pool: string): void {
    this.#pool = pool;
    this.#lanes = new Map(
      priorityClasses.map((name) => [
        name,
        {
          lane: { tier: this.#worker.tier, pool, class: name },
          state: 'broken',
          number: 0,
          open: 0,
          deadline: Infinity,
        },
      ]),
    );
    this.#scanOrder = [];
    clearTimeout(this.#asked);
    this.#askForLanes();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#asked);
  }

  /** Whatever was asked before is forgotten: the connection was lost. */
  reset(): void {
    this.moveTo(this.#pool);
  }

  /** Whether it waits in all lanes, each of which was empty when it began to. */
  get isWaiting(): boolean {
    for (const { state } of this.#lanes.values()) if (state !== 'waiting') return false;
    return this.#lanes.size > 0;
  }

  /** Call when slots may have become free. */
  kick(): void {
    if (this.#closed || this.#scanOrder.length > 0 || this.#free() <= 0) return;
    const unasked = [...this.#lanes.values()].some(({ state }) => state === 'empty');
    if (unasked) this.#scan();
    else this.#wait();
  }

  /** Has a ticket settled that was not claimed. */
  ack(ticket: string, as: AckKind): void {
    const { subjects } = this.#broker;
    const subject = subjects.ack(this.#ingress, this.#worker);
    const ack = encodeAck({ ticket, as });
    // Somebody waits for what goes back.
    if (as === 'back') this.#broker.publish(subject, ack);
    else this.#broker.publishUnhurried(subject, ack);
  }

  /** Counts a ticket that came. @returns false when it is of a lane that the worker does not serve any more */
  onTicket(subject: string): boolean {
    const [pool, name] = subject.split('.').slice(-2);
    const pull = pool === this.#pool && name !== undefined && isPriorityClass(name) ? this.#lanes.get(name) : undefined;
    if (!pull) return false;
    // One of an earlier pull, which may still wait at the server, is taken as well; nothing was counted on.
    if (pull.open === 0) return true;
    pull.open -= 1;
    if (pull.open === 0) this.#exhausted(pull);
    return true;
  }

  /** Takes an ingress's word that the lanes of a pool can be read, through it. */
  onLanes(pool: string, { data }: Pick<Msg, 'data'>): void {
    const ingress = Buffer.from(data).toString();
    // An empty one is the server's, that there is no ingress.
    if (pool !== this.#pool || ingress === '') return;
    this.#ingress = ingress;
    for (const pull of this.#lanes.values()) if (pull.state === 'broken') pull.state = 'empty';
    this.kick();
  }

  /**
   * Takes what is said to the pull of a number: by an ingress, that it waits, and whether the server will give signs of life
   * (an ingress of an older release lets it give none); by the server, that it still waits, expired, found nothing, or failed.
   */
  onStatus(name: string, number: number, { headers, data }: Pick<Msg, 'headers' | 'data'>): void {
    const pull = isPriorityClass(name) ? this.#lanes.get(name) : undefined;
    if (pull?.number !== number) return;
    if (!headers || headers.code === heartbeat) {
      const isWatched = headers !== undefined || data.length > 0;
      if (pull.state === 'waiting') pull.deadline = performance.now() + (isWatched ? silentMs : forgottenMs);
    } else if (headers.code === 404 || headers.code === 408) {
      const undelivered = Number(headers.get('Nats-Pending-Messages') || pull.open);
      pull.open = pull.state === 'scanning' ? 0 : Math.max(0, pull.open - undelivered);
      if (pull.open === 0) this.#exhausted(pull);
      this.kick();
    } else if (headers.code === noResponders || headers.code === 409) {
      this.#repair(pull);
    } else {
      this.#log.warn({ code: headers.code, description: headers.description }, 'the broker refused a pull');
      this.#repair(pull);
    }
  }

  // ---- scanning: lane after lane, without waiting

  #scan(): void {
    this.#scans += 1;
    this.#scanOrder = classOrder(this.#scans).filter((name) => this.#lanes.get(name)?.state === 'empty');
    this.#scanNext();
  }

  #scanNext(): void {
    const [name] = this.#scanOrder;
    const free = this.#free();
    const pull = name && this.#lanes.get(name);
    if (!pull || free <= 0) {
      this.#scanOrder = [];
      if (free > 0) this.#wait();
      return;
    }
    pull.state = 'scanning';
    this.#ask(pull, free, scanAnswerMs);
  }

  #exhausted(pull: LanePull): void {
    const scanned = pull.state === 'scanning';
    pull.state = 'empty';
    if (!scanned) return;
    this.#scanOrder.shift();
    this.#scanNext();
  }

  // ---- waiting: in all lanes at once

  #wait(): void {
    for (const pull of this.#lanes.values()) {
      if (pull.state !== 'empty') continue;
      pull.state = 'waiting';
      this.#ask(pull, awaitedTickets, heardMs, { expiresMs, heartbeatMs });
    }
  }

  #ask(pull: LanePull, batch: number, deadlineMs: number, waits?: Pick<Pull, 'expiresMs' | 'heartbeatMs'>): void {
    this.#pulls += 1;
    pull.number = this.#pulls;
    pull.open += batch;
    pull.deadline = performance.now() + deadlineMs;
    const { pool, class: name } = pull.lane;
    const request = encodePull({ pool, class: name, batch, ...waits });
    const answerTo = `${this.#inbox}.${name}.${pull.number}`;
    this.#broker.publish(this.#broker.subjects.pull(this.#ingress, this.#worker), request, answerTo);
  }

  // ---- care

  /** The lane's consumer is missing, or has forgotten the pull: has it made if need be, then goes on pulling. */
  #repair(pull: LanePull): void {
    pull.state = 'broken';
    pull.number = 0;
    pull.open = 0;
    pull.deadline = Number.POSITIVE_INFINITY;
    this.#scanOrder = [];
    if (this.#asked === undefined) this.#askForLanes();
  }

  /** Asks until an ingress has made the lanes, and never more often than four times a second. */
  #askForLanes(): void {
    this.#asked = setTimeout(() => {
      this.#asked = undefined;
      if ([...this.#lanes.values()].some(({ state }) => state === 'broken')) this.#askForLanes();
    }, askAgainMs);
    const answerTo = `${this.#inbox}.lanes.${this.#pool}`;
    this.#broker.publish(this.#broker.subjects.lanes(this.#worker), this.#pool, answerTo);
  }

  #watch(): void {
    if (this.#broker.connected && !this.#judging && this.#overdue().length > 0) void this.#judge();
    this.kick();
  }

  #overdue(): LanePull[] {
    const now = performance.now();
    return [...this.#lanes.values()].filter(({ state, deadline }) => state !== 'empty' && now > deadline);
  }

  /** Has what is overdue asked for again, once the server has shown that it, and this process, do not just stand still. */
  async #judge(): Promise<void> {
    this.#judging = true;
    const answerMs = await this.#broker.roundTripMs();
    this.#judging = false;
    if (this.#closed || answerMs === undefined) return;
    // What the server had said before its answer has come by now.
    for (const pull of this.#overdue()) this.#repair(pull);
  }
}
