import type { Msg } from '@nats-io/transport-node';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import { ensurePoolConsumers } from './jobs-stream.ts';
import type { Tier } from '#shared/core/tier.ts';
import { isInboxOf } from '../../contract/subjects.ts';
import { addressAtEnd } from '../../contract/worker-address.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';

/** The queue group of all dispatchers: one of them answers each request. */
const queueGroup = 'ingress';

interface LaneMakerOptions {
  /** The name of this dispatching process, as a subject token. */
  ingress: string;
  log: Logger;
  /** Called if the queues of a tier cannot be made; most likely its stream is missing. */
  onFailure: (tier: Tier) => void;
}

/**
 * Makes the queues of a pool when workers report that they cannot read them: the first worker of its kind, or all after a restart of the
 * broker. A worker has no permission to make queues, and gets only those of the pool that it announced. The answer names this
 * dispatcher: from then on the worker pulls through it, until it falls silent.
 */
export class LaneMaker {
  readonly #broker: Broker;
  readonly #workers: LiveWorkers;
  readonly #ingress: string;
  readonly #log: Logger;
  readonly #onFailure: (tier: Tier) => void;
  /** By tier and pool: workers that ask at once share one request. */
  readonly #making = new Map<string, Promise<void>>();
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

  /** Makes the requested queues. Without an answer, the worker requests them again: its announcement may not have come yet. */
  #onRequest({ subject, data, reply = '' }: Msg): void {
    const address = addressAtEnd(subject);
    const worker = address && this.#workers.at(address);
    const pool = Buffer.from(data).toString();
    if (worker?.pool.pool !== pool || !isInboxOf(this.#broker.subjects, address, reply)) return;
    const { tier } = worker.pool;
    this.#make(tier, pool)
      .then(() => this.#broker.publish(reply, this.#ingress))
      .catch((error: unknown) => {
        this.#log.debug({ err: error, tier, pool }, 'the queues of a pool cannot be made yet');
        this.#onFailure(tier);
      });
  }

  #make(tier: Tier, pool: string): Promise<void> {
    const key = `${tier}.${pool}`;
    const making =
      this.#making.get(key) ??
      ensurePoolConsumers(this.#broker, tier, pool).finally(() => {
        this.#making.delete(key);
      });
    this.#making.set(key, making);
    return making;
  }
}
