import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { noResponders, type Broker } from '../connection/connect-broker.ts';
import { encodeAck, type AckKind } from '../contract/ack.ts';
import { awaitedTickets, encodePull } from '../contract/pull.ts';
import { isPriorityClass } from '../contract/subjects.ts';
import type { WorkerAddress } from '../contract/worker-address.ts';
import { classOrder, expiresMs, heartbeatMs, LanePull } from './lane-pull.ts';

/** Status of the server's heartbeat for a pull that waits. */
const heartbeat = 100;

/** Milliseconds before an ingress is asked again for lanes that cannot be read. */
const askAgainMs = 250;

/** Milliseconds between two sweeps for overdue answers. */
const sweepMs = 500;

export interface PullerOptions {
  broker: Pick<Broker, 'subjects' | 'connected' | 'publish' | 'publishUnhurried' | 'roundTripMs'>;
  log: Logger;
  worker: WorkerAddress;
  /** Subject prefix of the worker's own inbox for answers to pulls. */
  inbox: string;
  /** Slots that are free right now; 0 while the worker takes nothing. */
  free: () => number;
  /** Called with the ingress that a pull is sent to. */
  onPull?: (ingress: string) => void;
}

/**
 * Pulls tickets for one worker, without the library's consumer: it recovers from a broker restart at once, and never takes more
 * tickets than there are free slots.
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
  readonly #onPull: ((ingress: string) => void) | undefined;
  readonly #timer: NodeJS.Timeout;
  #lanes = new Map<PriorityClass, LanePull>();
  #pool: string;
  /** The ingress that hands its pulls and acks on. */
  #ingress = '';
  /** Runs for a while after an ingress was asked for lanes, answered or not. */
  #asked: NodeJS.Timeout | undefined;
  /** Pulls made so far. */
  #pulls = 0;
  #scans = 0;
  #scanOrder: PriorityClass[] = [];
  /** Whether the server is being asked for a sign of life. */
  #isJudging = false;
  #isClosed = false;

  /** @param pool that the worker has announced */
  constructor({ broker, log, worker, inbox, free, onPull }: PullerOptions, pool: string) {
    this.#broker = broker;
    this.#log = log;
    this.#worker = worker;
    this.#inbox = inbox;
    this.#free = free;
    this.#onPull = onPull;
    this.#pool = pool;
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    this.moveTo(pool);
  }

  /**
   * Pulls from another pool's lanes from now on, which the worker has announced before. Tickets of the old ones that still
   * come are not its own any more.
   */
  moveTo(pool: string): void {
    const { tier } = this.#worker;
    this.#pool = pool;
    this.#lanes = new Map(priorityClasses.map((name) => [name, new LanePull({ tier, pool, class: name })]));
    this.#scanOrder = [];
    clearTimeout(this.#asked);
    this.#askForLanes();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#asked);
  }

  /** Drops all pulls and begins anew: the connection was lost. */
  reset(): void {
    this.moveTo(this.#pool);
  }

  /** Whether it waits in all lanes, each of which was empty when it began to, or cannot be read. */
  get isWaiting(): boolean {
    const now = performance.now();
    return this.#lanes.size > 0 && [...this.#lanes.values()].every((pull) => pull.isDrained(now));
  }

  /** Pulls more tickets when a slot is free. Call when slots may have become free. */
  pullIfFree(): void {
    if (this.#isClosed || this.#scanOrder.length > 0 || this.#free() <= 0) return;
    const hasEmpty = [...this.#lanes.values()].some(({ state }) => state === 'empty');
    if (hasEmpty) this.#scan();
    else this.#wait();
  }

  /** Has a ticket acked that is not claimed. */
  ack(ticket: string, as: AckKind): void {
    const { subjects } = this.#broker;
    const subject = subjects.ack(this.#ingress, this.#worker);
    const ack = encodeAck({ ticket, as });
    // Another worker waits for a ticket that goes back.
    if (as === 'back') this.#broker.publish(subject, ack);
    else this.#broker.publishUnhurried(subject, ack);
  }

  /** Counts a ticket that came. @returns false when it is of a lane that the worker does not serve any more */
  onTicket(subject: string): boolean {
    const [pool, name] = subject.split('.').slice(-2);
    const pull = pool === this.#pool && name !== undefined && isPriorityClass(name) ? this.#lanes.get(name) : undefined;
    if (!pull) return false;
    if (pull.received()) this.#onExhausted(pull);
    return true;
  }

  /** An ingress has made the lanes of a pool, and hands on pulls for them. */
  onLanes(pool: string, { data }: Pick<Msg, 'data'>): void {
    const ingress = Buffer.from(data).toString();
    // An empty answer is the server's: there is no ingress.
    if (pool !== this.#pool || ingress === '') return;
    this.#ingress = ingress;
    for (const pull of this.#lanes.values()) if (pull.state === 'broken') pull.empty();
    this.pullIfFree();
  }

  /**
   * An ingress has fallen silent. What it was to hand on is lost; a pull that waits at the server still waits.
   * @param next another ingress that hands pulls on from now on; without it the worker asks for one
   */
  leave(ingress: string, next: string | undefined): void {
    if (ingress !== this.#ingress) return;
    if (next !== undefined) this.#ingress = next;
    this.#scanOrder = [];
    for (const pull of this.#lanes.values()) {
      if (pull.isConfirmed) continue;
      pull.break();
      if (next !== undefined) pull.empty();
    }
    if (next === undefined && this.#asked === undefined) this.#askForLanes();
    this.pullIfFree();
  }

  /**
   * Takes an answer to the pull of a number: of an ingress, that it waits, and whether the server will send heartbeats (an
   * ingress of an older release asks for none); of the server, that it still waits, expired, found nothing, or failed.
   */
  onStatus(name: string, number: number, { headers, data }: Pick<Msg, 'headers' | 'data'>): void {
    const pull = isPriorityClass(name) ? this.#lanes.get(name) : undefined;
    if (pull?.number !== number) return;
    if (!headers || headers.code === heartbeat) {
      pull.stillWaits(headers !== undefined || data.length > 0, headers !== undefined);
    } else if (headers.code === 404 || headers.code === 408) {
      const undelivered = headers.get('Nats-Pending-Messages');
      if (pull.ended(undelivered === '' ? undefined : Number(undelivered))) this.#onExhausted(pull);
      this.pullIfFree();
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
    if (pull && free > 0) return this.#pull(pull, 'scanning', free);
    this.#scanOrder = [];
    if (free > 0) this.#wait();
  }

  #onExhausted(pull: LanePull): void {
    const wasScanned = pull.state === 'scanning';
    pull.empty();
    if (!wasScanned) return;
    this.#scanOrder.shift();
    this.#scanNext();
  }

  // ---- waiting: in all lanes at once

  #wait(): void {
    for (const pull of this.#lanes.values()) {
      if (pull.state === 'empty') this.#pull(pull, 'waiting', awaitedTickets);
    }
  }

  #pull(pull: LanePull, state: 'scanning' | 'waiting', batch: number): void {
    this.#pulls += 1;
    pull.begin(state, this.#pulls, batch);
    const { pool, class: name } = pull.lane;
    const waits = state === 'waiting' ? { expiresMs, heartbeatMs } : {};
    const request = encodePull({ pool, class: name, batch, ...waits });
    const answerTo = `${this.#inbox}.${name}.${pull.number}`;
    this.#broker.publish(this.#broker.subjects.pull(this.#ingress, this.#worker), request, answerTo);
    this.#onPull?.(this.#ingress);
  }

  // ---- repair

  /** Has the lane's consumer made if it is missing, then pulls again. */
  #repair(pull: LanePull): void {
    pull.break();
    this.#scanOrder = [];
    if (this.#asked === undefined) this.#askForLanes();
  }

  /** Asks until an ingress has made the lanes, four times a second at most. */
  #askForLanes(): void {
    this.#asked = setTimeout(() => {
      this.#asked = undefined;
      if ([...this.#lanes.values()].some(({ state }) => state === 'broken')) this.#askForLanes();
    }, askAgainMs);
    const answerTo = `${this.#inbox}.lanes.${this.#pool}`;
    this.#broker.publish(this.#broker.subjects.lanes(this.#worker), this.#pool, answerTo);
  }

  #sweep(): void {
    if (this.#broker.connected && !this.#isJudging && this.#overdue().length > 0) void this.#judge();
    this.pullIfFree();
  }

  #overdue(): LanePull[] {
    const now = performance.now();
    return [...this.#lanes.values()].filter((pull) => pull.isOverdue(now));
  }

  /** Repairs what is overdue, once the server has shown that neither it nor this process stands still. */
  async #judge(): Promise<void> {
    this.#isJudging = true;
    const answerMs = await this.#broker.roundTripMs();
    this.#isJudging = false;
    if (this.#isClosed || answerMs === undefined) return;
    // Whatever the server sent before its answer has come by now.
    for (const pull of this.#overdue()) this.#repair(pull);
  }
}
