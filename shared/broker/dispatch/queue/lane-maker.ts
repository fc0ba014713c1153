import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { DispatchContext } from '../dispatch-context.ts';
import { ensurePoolConsumers, idleLaneMs } from './jobs-stream.ts';
import type { Tier } from '#shared/core/tier.ts';
import { isOwnInbox } from '../../contract/subjects.ts';
import { formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import { CredentialRates, computeBudgetKey } from '../workers/credential-rates.ts';

/** The queue group of all dispatchers. Each request goes to one of them. */
const queueGroup = 'ingress';

/**
 * The rate at which new lanes are made for the workers of a credential: the lanes of a hundred pools at once, and the lanes of ten more
 * pools each minute. The rate is limited, because each lane costs the broker memory and time.
 */
const newLaneRate = { burst: 100, perSecond: 10 / 60, minCost: 1 };
/** The rate at which lanes are made again after the broker has lost them in a restart. They cost less than new lanes. */
const lostLaneRate = { burst: 500, perSecond: 2, minCost: 1 };

/** Minimum milliseconds between two creations of the same lanes. */
const minRecreationMs = 1_000;

/** If `#madeAt` has more entries than this, entries of lanes that the broker may have removed are dropped. */
const sweepAbove = 1_000;

/**
 * Makes the lanes of a pool at a worker's request, because workers have no permission to make lanes. The first worker of a pool requests
 * them, and so do all workers after a restart of the broker. A worker gets only the lanes of the pool that it has announced. The answer
 * names this dispatcher. The worker then pulls through this dispatcher as long as the dispatcher is not silent.
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
   * The last creation under way by budget, see `computeBudgetKey`. The lanes for one budget are made pool by pool, one after the other, so
   * that workers with other budgets need not wait for all of them.
   */
  readonly #lastCreations = new Map<string, Promise<void>>();
  readonly #newLaneRates = new CredentialRates(newLaneRate);
  readonly #lostLaneRates = new CredentialRates(lostLaneRate);
  readonly #stop: () => void;

  /** @param onFailure called when lanes of a tier cannot be made. Most likely the tier's stream is missing */
  constructor({ broker, workers, settings, log }: DispatchContext, onFailure: (tier: Tier) => void) {
    this.#broker = broker;
    this.#workers = workers;
    this.#ingress = settings.ingress;
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
  #onRequest(message: Msg): void {
    const { data, reply = '' } = message;
    const address = this.#workers.workerMessages.admit(message);
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
   * @returns whether the lanes exist; false if the worker's budget is used up
   */
  async #ensureLanes(worker: WorkerAddress, pool: string): Promise<boolean> {
    const key = `${worker.tier}.${pool}`;
    const madeAt = this.#madeAt.get(key) ?? -Infinity;
    const age = performance.now() - madeAt;
    // If the connection was lost since then, the broker may have been restarted and have lost the lanes.
    if (age < minRecreationMs && madeAt > this.#broker.connectedSince) return true;
    const underWay = this.#creations.get(key);
    const creation =
      underWay ?? this.#startCreation(worker, pool, age < idleLaneMs ? this.#lostLaneRates : this.#newLaneRates);
    await creation;
    return creation !== undefined;
  }

  /**
   * Starts to make the lanes of a pool.
   * @returns undefined if the worker's budget is used up
   */
  #startCreation(worker: WorkerAddress, pool: string, rates: CredentialRates): Promise<void> | undefined {
    const verdict = rates.use(worker, 1);
    if (verdict === 'report') {
      const facts = { worker: formatWorkerId(worker), pool };
      this.#log.error(facts, 'the workers of an owner have too many pools: they get queues late');
    }
    if (verdict !== 'allowed') return undefined;
    const key = `${worker.tier}.${pool}`;
    const budgetKey = computeBudgetKey(worker);
    const creation = this.#createAfter(this.#lastCreations.get(budgetKey), worker, pool)
      .catch((error: unknown) => {
        rates.refund(worker, 1);
        throw error;
      })
      .finally(() => {
        this.#creations.delete(key);
        if (this.#lastCreations.get(budgetKey) === creation) this.#lastCreations.delete(budgetKey);
      });
    this.#creations.set(key, creation);
    this.#lastCreations.set(budgetKey, creation);
    return creation;
  }

  async #createAfter(previous: Promise<void> | undefined, { tier }: WorkerAddress, pool: string): Promise<void> {
    // If the previous creation failed, its own caller handles the failure.
    await previous?.catch(() => undefined);
    await ensurePoolConsumers(this.#broker, tier, pool);
    const now = performance.now();
    this.#madeAt.set(`${tier}.${pool}`, now);
    if (this.#madeAt.size <= sweepAbove) return;
    for (const [key, at] of this.#madeAt) if (now - at > idleLaneMs) this.#madeAt.delete(key);
  }
}
