import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import { ensurePoolConsumers, idleLaneMs } from './jobs-stream.ts';
import type { Tier } from '#shared/core/tier.ts';
import { isOwnInbox } from '../../contract/subjects.ts';
import { parseWorkerAddress, formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import { CredentialRates, findPayer } from '../workers/credential-rates.ts';

/** The group of subscribers that all dispatchers form. One of them gets each request. */
const queueGroup = 'ingress';

/**
 * The rate at which new lanes are made for the workers of a credential: those of a hundred pools at once, and of ten pools in each further
 * minute. The rate is limited, because each lane costs the broker memory and time.
 */
const newLaneRate = { burst: 100, perSecond: 10 / 60, minCost: 1 };
/** The rate at which lanes are made again that were lost with a restart of the broker. They cost less than new lanes. */
const lostLaneRate = { burst: 500, perSecond: 2, minCost: 1 };

/** Minimum milliseconds between two creations of the same lanes. */
const minRecreationMs = 1_000;

/** Number of pools in `#madeAt` above which those are dropped whose lanes the broker may have removed. */
const sweepAbove = 1_000;

interface LaneMakerOptions {
  /** The name of this dispatching process, as a subject token. */
  ingress: string;
  log: Logger;
  /** Called when lanes of a tier cannot be made. Most likely the tier's stream is missing. */
  onFailure: (tier: Tier) => void;
}

/**
 * Makes the lanes of a pool when a worker requests them. The first worker of a pool does so, and all workers after a restart of the broker,
 * because they have no permission to make lanes themselves. A worker gets only the lanes of the pool that it has announced. The answer
 * names this dispatcher. From then on, the worker pulls through this dispatcher, until the dispatcher falls silent.
 */
export class LaneMaker {
  readonly #broker: Broker;
  readonly #workers: LiveWorkers;
  readonly #ingress: string;
  readonly #log: Logger;
  readonly #onFailure: (tier: Tier) => void;
  /** The creations of lanes under way, by tier and pool. Workers that request the same lanes at the same time share one creation. */
  readonly #creations = new Map<string, Promise<void>>();
  /** When this process last made the lanes of each tier and pool, in milliseconds of `performance.now()`. */
  readonly #madeAt = new Map<string, number>();
  /**
   * The last creation under way by payer, see `findPayer`. The lanes of one payer are made pool by pool, one after the other, so that other
   * payers need not wait for all of them.
   */
  readonly #lastCreations = new Map<string, Promise<void>>();
  readonly #newLaneRates = new CredentialRates(newLaneRate);
  readonly #lostLaneRates = new CredentialRates(lostLaneRate);
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

  /**
   * Makes the requested lanes and answers. Does not answer if the worker's announcement has not arrived yet, or the lanes cannot be made;
   * the worker then requests them again.
   */
  #onRequest({ subject, data, reply = '' }: Msg): void {
    const address = parseWorkerAddress(subject);
    const worker = address && this.#workers.findByAddress(address);
    const pool = Buffer.from(data).toString();
    if (worker?.pool.pool !== pool || !isOwnInbox(this.#broker.subjects, address, reply)) return;
    const { tier } = worker.pool;
    this.#ensureLanes(worker.address, pool)
      .then((isMade) => isMade && this.#broker.publish(reply, this.#ingress))
      .catch((error: unknown) => {
        this.#log.debug({ err: error, tier, pool }, 'the queues of a pool cannot be made yet');
        this.#onFailure(tier);
      });
  }

  /**
   * Makes the lanes of a pool, unless they were just made.
   * @returns whether the lanes exist; false if too many lanes were made for the payer
   */
  async #ensureLanes(worker: WorkerAddress, pool: string): Promise<boolean> {
    const key = `${worker.tier}.${pool}`;
    const madeAt = this.#madeAt.get(key) ?? -Infinity;
    const age = performance.now() - madeAt;
    // If the connection was lost since, the broker may have been restarted and have lost the lanes.
    if (age < minRecreationMs && madeAt > this.#broker.connectedSince) return true;
    const underWay = this.#creations.get(key);
    const creation =
      underWay ?? this.#startCreation(worker, pool, age < idleLaneMs ? this.#lostLaneRates : this.#newLaneRates);
    await creation;
    return creation !== undefined;
  }

  /**
   * Starts to make the lanes of a pool.
   * @returns undefined if the payer has used up its rate
   */
  #startCreation(worker: WorkerAddress, pool: string, rates: CredentialRates): Promise<void> | undefined {
    const verdict = rates.use(worker, 1);
    if (verdict === 'report') {
      const facts = { worker: formatWorkerId(worker), pool };
      this.#log.error(facts, 'the workers of an owner have too many pools: they get queues late');
    }
    if (verdict !== 'allowed') return undefined;
    const key = `${worker.tier}.${pool}`;
    const payer = findPayer(worker);
    const creation = this.#createAfter(this.#lastCreations.get(payer), worker, pool)
      .catch((error: unknown) => {
        rates.refund(worker, 1);
        throw error;
      })
      .finally(() => {
        this.#creations.delete(key);
        if (this.#lastCreations.get(payer) === creation) this.#lastCreations.delete(payer);
      });
    this.#creations.set(key, creation);
    this.#lastCreations.set(payer, creation);
    return creation;
  }

  async #createAfter(before: Promise<void> | undefined, { tier }: WorkerAddress, pool: string): Promise<void> {
    // If the creation before failed, its own caller handles the failure.
    await before?.catch(() => undefined);
    await ensurePoolConsumers(this.#broker, tier, pool);
    const now = performance.now();
    this.#madeAt.set(`${tier}.${pool}`, now);
    if (this.#madeAt.size <= sweepAbove) return;
    for (const [key, at] of this.#madeAt) if (now - at > idleLaneMs) this.#madeAt.delete(key);
  }
}
