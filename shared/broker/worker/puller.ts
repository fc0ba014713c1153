import type { Msg } from '@nats-io/transport-node';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { noRespondersCode, type Broker } from '../connection/connect-broker.ts';
import { encodeAck, type AckKind } from '../contract/ack.ts';
import { ticketsPerLane, encodePull } from '../contract/pull.ts';
import { isPriorityClass } from '../contract/subjects.ts';
import { computeScanOrder, pullExpiryMs, pullHeartbeatMs, LanePull } from './lane-pull.ts';
import type { WorkerState } from './worker-state.ts';

/** The status code of the server's heartbeat for a waiting pull. */
const heartbeatStatus = 100;

/** Milliseconds between two requests for lanes that cannot be read. */
const laneRequestIntervalMs = 250;

/** Milliseconds between two checks for overdue pulls. */
const sweepMs = 500;

/** The worker for which a puller pulls. */
type PullingWorker = Pick<WorkerState, 'log' | 'address' | 'inbox' | 'pool' | 'countFreeSlots'> & {
  broker: Pick<Broker, 'subjects' | 'connected' | 'publish' | 'publishUnhurried' | 'measureRoundTripMs'>;
};

/**
 * Pulls tickets for one worker. The puller replaces the consumer of NATS' library, because the puller recovers from a restart of the broker
 * at once, and never takes more tickets than there are free slots.
 *
 * While a slot is free, the puller scans the lanes in which tickets came, with pulls that do not wait. It scans them in the order of
 * classes, so that a backlog drains in that order. When all lanes are empty, it waits in all lanes at once, for one ticket in each.
 */
export class Puller {
  readonly #worker: PullingWorker;
  readonly #onPull: (ingress: string) => void;
  readonly #timer: NodeJS.Timeout;
  #lanes = new Map<PriorityClass, LanePull>();
  #ingress = '';
  /**
   * The timer of the last request for the lanes; undefined when the next request may be sent. It runs even after a dispatcher has answered.
   */
  #laneRequest: NodeJS.Timeout | undefined;
  #pulls = 0;
  #scans = 0;
  #scanOrder: PriorityClass[] = [];
  #isRepairing = false;
  #isClosed = false;

  /** @param onPull called with the dispatcher to which a pull was just sent */
  constructor(worker: PullingWorker, onPull: (ingress: string) => void) {
    this.#worker = worker;
    this.#onPull = onPull;
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    this.reset();
  }

  /**
   * Drops all pulls and starts over, because the connection was lost, or the worker has announced another pool. Tickets of the old pool that
   * still arrive go back to the queue.
   */
  reset(): void {
    const { pool } = this.#worker;
    const { tier } = this.#worker.address;
    this.#lanes = new Map(priorityClasses.map((name) => [name, new LanePull({ tier, pool, class: name })]));
    this.#scanOrder = [];
    clearTimeout(this.#laneRequest);
    this.#requestLanes();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#laneRequest);
  }

  /** Whether the worker waits in all lanes: each lane was empty when the wait began, or cannot be read. */
  get isWaiting(): boolean {
    const now = performance.now();
    return this.#lanes.size > 0 && [...this.#lanes.values()].every((pull) => pull.hasNoTickets(now));
  }

  /** Pulls more tickets if a slot is free. Call it whenever a slot may have become free. */
  pullIfFree(): void {
    if (this.#isClosed || this.#scanOrder.length > 0 || this.#worker.countFreeSlots() <= 0) return;
    const hasEmptyLane = [...this.#lanes.values()].some(({ state }) => state === 'empty');
    if (hasEmptyLane) this.#scan();
    else this.#wait();
  }

  /** Acks a ticket that the worker does not claim, through the dispatcher that passes pulls on. */
  ack(ackSubject: string, as: AckKind): void {
    const { broker, address } = this.#worker;
    const subject = broker.subjects.ack(this.#ingress, address);
    const ack = encodeAck({ ticket: ackSubject, as });
    // A ticket that is given back is sent at once, because another worker waits for it.
    if (as === 'back') broker.publish(subject, ack);
    else broker.publishUnhurried(subject, ack);
  }

  /**
   * Records that a ticket was delivered.
   * @param subject the subject to which the ticket was published
   * @returns false if it is a ticket of a pool to which the worker does not belong any more
   */
  onTicket(subject: string): boolean {
    const [pool, name] = subject.split('.').slice(-2);
    const pull =
      pool === this.#worker.pool && name !== undefined && isPriorityClass(name) ? this.#lanes.get(name) : undefined;
    if (!pull) return false;
    if (pull.recordTicket()) this.#onExhausted(pull);
    return true;
  }

  /** Records that a dispatcher has made the lanes of a pool and passes on pulls for them. */
  onLanes(pool: string, { data }: Pick<Msg, 'data'>): void {
    const ingress = Buffer.from(data).toString();
    // An empty answer comes from the server and means that there is no dispatcher.
    if (pool !== this.#worker.pool || ingress === '') return;
    this.#ingress = ingress;
    for (const pull of this.#lanes.values()) if (pull.state === 'broken') pull.markEmpty();
    this.pullIfFree();
  }

  /**
   * Stops using a dispatcher that has fallen silent. Pulls that the dispatcher should have passed on are lost. Pulls that already wait at
   * the server continue.
   * @param nextIngress the dispatcher that passes pulls on from now on; if undefined, the worker requests its lanes again to find a
   * dispatcher
   */
  replaceDispatcher(ingress: string, nextIngress: string | undefined): void {
    if (ingress !== this.#ingress) return;
    if (nextIngress !== undefined) this.#ingress = nextIngress;
    this.#scanOrder = [];
    for (const pull of this.#lanes.values()) {
      if (pull.isConfirmed) continue;
      pull.markBroken();
      if (nextIngress !== undefined) pull.markEmpty();
    }
    if (nextIngress === undefined && this.#laneRequest === undefined) this.#requestLanes();
    this.pullIfFree();
  }

  /**
   * Handles an answer to a pull. A dispatcher reports that the pull waits, and whether the server will send heartbeats for it. The server
   * reports that the pull still waits, has expired, found nothing, or failed.
   * @param name the class of the lane
   * @param number the number of the pull
   */
  onStatus(name: string, number: number, { headers, data }: Pick<Msg, 'headers' | 'data'>): void {
    const pull = isPriorityClass(name) ? this.#lanes.get(name) : undefined;
    if (pull?.number !== number) return;
    if (!headers || headers.code === heartbeatStatus) {
      pull.recordWaiting(headers !== undefined || data.length > 0, headers !== undefined);
    } else if (headers.code === 404 || headers.code === 408) {
      const undelivered = headers.get('Nats-Pending-Messages');
      if (pull.recordEnd(undelivered === '' ? undefined : Number(undelivered))) this.#onExhausted(pull);
      this.pullIfFree();
    } else if (headers.code === noRespondersCode || headers.code === 409) {
      this.#repair(pull);
    } else {
      this.#worker.log.warn({ code: headers.code, description: headers.description }, 'the broker refused a pull');
      this.#repair(pull);
    }
  }

  // ---- scan: lane after lane, without waiting

  #scan(): void {
    this.#scans += 1;
    this.#scanOrder = computeScanOrder(this.#scans).filter((name) => this.#lanes.get(name)?.state === 'empty');
    this.#scanNext();
  }

  #scanNext(): void {
    const [name] = this.#scanOrder;
    const freeSlots = this.#worker.countFreeSlots();
    const pull = name && this.#lanes.get(name);
    if (pull && freeSlots > 0) return this.#pull(pull, 'scanning', freeSlots);
    this.#scanOrder = [];
    if (freeSlots > 0) this.#wait();
  }

  /** Handles a lane whose pulls will deliver no further ticket. */
  #onExhausted(pull: LanePull): void {
    const wasScanned = pull.state === 'scanning';
    pull.markEmpty();
    if (!wasScanned) return;
    this.#scanOrder.shift();
    this.#scanNext();
  }

  // ---- wait: in all lanes at once

  #wait(): void {
    for (const pull of this.#lanes.values()) {
      if (pull.state === 'empty') this.#pull(pull, 'waiting', ticketsPerLane);
    }
  }

  #pull(pull: LanePull, state: 'scanning' | 'waiting', batch: number): void {
    this.#pulls += 1;
    pull.recordPull(state, this.#pulls, batch);
    const { pool, class: name } = pull.lane;
    const waitOptions = state === 'waiting' ? { expiresMs: pullExpiryMs, heartbeatMs: pullHeartbeatMs } : {};
    const request = encodePull({ pool, class: name, batch, ...waitOptions });
    const { broker, address, inbox } = this.#worker;
    const answerTo = `${inbox}.pull.${name}.${pull.number}`;
    broker.publish(broker.subjects.pull(this.#ingress, address), request, answerTo);
    this.#onPull(this.#ingress);
  }

  // ---- repair

  /** Requests the lanes again because this lane cannot be read. The worker pulls again when a dispatcher answers. */
  #repair(pull: LanePull): void {
    pull.markBroken();
    this.#scanOrder = [];
    if (this.#laneRequest === undefined) this.#requestLanes();
  }

  /** Requests the lanes, four times a second, until a dispatcher has made them. */
  #requestLanes(): void {
    this.#laneRequest = setTimeout(() => {
      this.#laneRequest = undefined;
      if ([...this.#lanes.values()].some(({ state }) => state === 'broken')) this.#requestLanes();
    }, laneRequestIntervalMs);
    const { broker, address, inbox, pool } = this.#worker;
    broker.publish(broker.subjects.lanes(address), pool, `${inbox}.pull.lanes.${pool}`);
  }

  #sweep(): void {
    if (this.#worker.broker.connected && !this.#isRepairing && this.#findOverdue().length > 0)
      void this.#repairOverdue();
    this.pullIfFree();
  }

  #findOverdue(): LanePull[] {
    const now = performance.now();
    return [...this.#lanes.values()].filter((pull) => pull.isOverdue(now));
  }

  /** Repairs overdue pulls once the server has answered, which shows that neither the server nor this process hangs. */
  async #repairOverdue(): Promise<void> {
    this.#isRepairing = true;
    const answerMs = await this.#worker.broker.measureRoundTripMs();
    this.#isRepairing = false;
    if (this.#isClosed || answerMs === undefined) return;
    // The broker keeps the order, so everything that the server sent before its answer has arrived by now.
    for (const pull of this.#findOverdue()) this.#repair(pull);
  }
}
