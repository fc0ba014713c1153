import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import { ensurePoolConsumers, idleLaneMs } from './jobs-stream.ts';
import type { Tier } from '#shared/core/tier.ts';
import { isOwnInbox } from '../../contract/subjects.ts';
import { parseWorkerAddress, formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import { OwnerRates, payerOf } from '../workers/owner-rates.ts';

/** The queue group of all dispatchers. One of them answers each request. */
const queueGroup = 'ingress';

/**
 * The rate at which lanes that the broker does not have yet are made for an owner. It is a hundred pools at once, and ten in each further
 * minute. Each lane costs the broker memory and time.
 */
const newRate = { burst: 100, perSecond: 10 / 60, minCost: 1 };
/** The rate for lanes that were made before and were lost with a restart of the broker. They cost less. */
const againRate = { burst: 500, perSecond: 2, minCost: 1 };

/** Milliseconds for which lanes that were just made are not made again. */
const freshMs = 1_000;

/** Number of pools above which `#madeAt` drops the pools whose lanes the broker may have removed. */
const sweepAt = 1_000;

interface LaneMakerOptions {
  /** The name of this dispatching process, as a subject token. */
  ingress: string;
  log: Logger;
  /** Called if the queues of a tier cannot be made; most likely its stream is missing. */
  onFailure: (tier: Tier) => void;
}

/**
 * Makes the queues of a pool when workers report that they cannot read them. The first worker of a pool does so, and all workers after a
 * restart of the broker. A worker has no permission to make queues, and gets only those of the pool that it announced. The answer names
 * this dispatcher. From then on, the worker pulls through it, until it falls silent.
 */
export class LaneMaker {
  readonly #broker: Broker;
  readonly #workers: LiveWorkers;
  readonly #ingress: string;
  readonly #log: Logger;
  readonly #onFailure: (tier: Tier) => void;
  /** The creations under way, by tier and pool. Workers that request the same lanes at the same time share one creation. */
  readonly #making = new Map<string, Promise<void>>();
  /** When this process last made the lanes, by tier and pool, in milliseconds of `performance.now()`. */
  readonly #madeAt = new Map<string, number>();
  /**
   * The last creation under way of each payer. The lanes of one payer's pools are made one after the other, so that other payers need not
   * wait for all of them.
   */
  readonly #lastOf = new Map<string, Promise<void>>();
  readonly #newRates = new OwnerRates(newRate);
  readonly #againRates = new OwnerRates(againRate);
  readonly #stop: () => void;

  constructor(broker: Broker, workers: LiveWorkers, { ingress, log, onFailure }: LaneMakerOptions) {
    this.#broker = broker;
    this.#workers = workers;
    this.#ingress = ingress;
    this.#log = log;
    this.#onFailure = onFailure;
    const { allLanes } = broker.subjects;
    const subscription = broker.subscribe(allLanes, (message) => this.#onRequest(message), queueGroup);
    this.#stop = () => subscription.unsubscribe();
  }

  close(): void {
    this.#stop();
  }

  /** Makes the requested queues. If it gets no answer, the worker requests them again. Its announcement may not have arrived yet. */
  #onRequest({ subject, data, reply = '' }: Msg): void {
    const address = parseWorkerAddress(subject);
    const worker = address && this.#workers.at(address);
    const pool = Buffer.from(data).toString();
    if (worker?.pool.pool !== pool || !isOwnInbox(this.#broker.subjects, address, reply)) return;
    const { tier } = worker.pool;
    this.#lanesOf(worker.address, pool)
      .then((isMade) => isMade && this.#broker.publish(reply, this.#ingress))
      .catch((error: unknown) => {
        this.#log.debug({ err: error, tier, pool }, 'the queues of a pool cannot be made yet');
        this.#onFailure(tier);
      });
  }

  /** @returns whether the lanes exist; false if too many lanes were made for the worker's owner */
  async #lanesOf(worker: WorkerAddress, pool: string): Promise<boolean> {
    const key = `${worker.tier}.${pool}`;
    const madeAt = this.#madeAt.get(key) ?? -Infinity;
    const age = performance.now() - madeAt;
    // A broker that was restarted since has lost them.
    if (age < freshMs && madeAt > this.#broker.connectedSince) return true;
    const making = this.#making.get(key);
    const made = making ?? this.#make(worker, pool, age < idleLaneMs ? this.#againRates : this.#newRates);
    await made;
    return made !== undefined;
  }

  /** @returns undefined if the worker's owner has to wait */
  #make(worker: WorkerAddress, pool: string, rates: OwnerRates): Promise<void> | undefined {
    const verdict = rates.take(worker, 1);
    if (verdict === 'report') {
      const facts = { worker: formatWorkerId(worker), pool };
      this.#log.error(facts, 'the workers of an owner have too many pools: they get queues late');
    }
    if (verdict !== 'allowed') return undefined;
    const key = `${worker.tier}.${pool}`;
    const payer = payerOf(worker);
    const making = this.#makeAfter(this.#lastOf.get(payer), worker, pool)
      .catch((error: unknown) => {
        rates.give(worker, 1);
        throw error;
      })
      .finally(() => {
        this.#making.delete(key);
        if (this.#lastOf.get(payer) === making) this.#lastOf.delete(payer);
      });
    this.#making.set(key, making);
    this.#lastOf.set(payer, making);
    return making;
  }

  async #makeAfter(before: Promise<void> | undefined, { tier }: WorkerAddress, pool: string): Promise<void> {
    // The caller that requested that pool handles its failure.
    await before?.catch(() => undefined);
    await ensurePoolConsumers(this.#broker, tier, pool);
    const now = performance.now();
    this.#madeAt.set(`${tier}.${pool}`, now);
    if (this.#madeAt.size <= sweepAt) return;
    for (const [key, at] of this.#madeAt) if (now - at > idleLaneMs) this.#madeAt.delete(key);
  }
}
