import { nanos, type Msg } from '@nats-io/transport-node';
import type { Broker } from '../../connection/connect-broker.ts';
import { decodePull } from '../../contract/pull.ts';
import { decodeAck, isTicketAckSubject, ackPayloads, type AckKind } from '../../contract/ack.ts';
import { formatConsumerName, isOwnInbox } from '../../contract/subjects.ts';
import type { WorkerAddress } from '../../contract/worker-address.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';

/**
 * The average number of waiting pulls of a pool's lane for which the server sends heartbeats. For each heartbeat, the server goes through
 * all waiting pulls of the lane, so heartbeats for all pulls would cost the square of the pool's size. Without heartbeats, a worker notices
 * the loss of a pull only after half a minute.
 */
const maxPullsWithHeartbeats = 200;

/**
 * Passes workers' pulls and acks on to JetStream. Workers have no permission for JetStream's API, because the server publishes the answer
 * to a request to whatever reply subject the request names, and it does so with its own rights. A worker could thereby make the server do
 * what the worker may not do, such as purge another tier's stream. Tickets go from the server straight to the worker.
 * See docs/decisions/0003-proxied-pulls.md.
 */
export class JetStreamProxy {
  readonly #broker: Broker;
  readonly #workers: Pick<LiveWorkers, 'findByAddress' | 'workerMessages'>;
  readonly #stop: () => void;

  constructor(broker: Broker, ingress: string, workers: Pick<LiveWorkers, 'findByAddress' | 'workerMessages'>) {
    this.#broker = broker;
    this.#workers = workers;
    const { subjects } = broker;
    const subscriptions = [
      broker.subscribe(subjects.allPulls(ingress), (message) => this.#onPull(message)),
      broker.subscribe(subjects.allAcks(ingress), (message) => this.#onAck(message)),
    ];
    this.#stop = () => {
      for (const subscription of subscriptions) subscription.unsubscribe();
    };
  }

  close(): void {
    this.#stop();
  }

  /** Acks a ticket for a worker. Ignores a ticket of another tier, and a subject that is not the ack subject of a ticket. */
  ack({ tier }: WorkerAddress, ackSubject: string, as: AckKind): void {
    const { subjects } = this.#broker;
    if (!isTicketAckSubject(subjects, tier, ackSubject)) return;
    if (as === 'back') this.#broker.publish(ackSubject, ackPayloads[as]);
    else this.#broker.publishUnhurried(ackSubject, ackPayloads[as]);
  }

  /**
   * Passes a pull on to JetStream. Confirms a waiting pull to the worker. The confirmation has a payload if the server will send heartbeats
   * for the pull.
   */
  #onPull(message: Msg): void {
    const { subjects } = this.#broker;
    const { reply = '' } = message;
    const worker = this.#workers.workerMessages.admit(message);
    const pull = worker && decodePull(message.data);
    if (!pull || !isOwnInbox(subjects, worker, reply)) return;
    const { batch, expiresMs } = pull;
    const heartbeatMs = pull.heartbeatMs !== undefined && this.#getsHeartbeats(worker) ? pull.heartbeatMs : undefined;
    const heartbeat = heartbeatMs === undefined ? {} : { idle_heartbeat: nanos(heartbeatMs) };
    const options =
      expiresMs === undefined ? { batch, no_wait: true } : { batch, expires: nanos(expiresMs), ...heartbeat };
    const nextSubject = `$JS.API.CONSUMER.MSG.NEXT.${subjects.stream(worker.tier)}.${formatConsumerName(pull)}`;
    this.#broker.publish(nextSubject, JSON.stringify(options), reply);
    if (expiresMs !== undefined) this.#broker.publish(reply, heartbeatMs === undefined ? '' : 'heartbeats');
  }

  #getsHeartbeats(worker: WorkerAddress): boolean {
    const poolSize = this.#workers.findByAddress(worker)?.pool.workers.size ?? 1;
    return Math.random() * poolSize < maxPullsWithHeartbeats && this.#workers.workerMessages.mayHaveHeartbeats(worker);
  }

  #onAck(message: Msg): void {
    const worker = this.#workers.workerMessages.admit(message);
    const ack = worker && decodeAck(message.data);
    if (ack) this.ack(worker, ack.ticket, ack.as);
  }
}
