import { nanos, type Msg } from '@nats-io/transport-node';
import type { Broker } from '../../connection/connect-broker.ts';
import { decodePull } from '../../contract/pull.ts';
import { decodeAck, isTicketOf, ackPayloads, type AckKind } from '../../contract/ack.ts';
import { consumerName, isInboxOf } from '../../contract/subjects.ts';
import { addressAtEnd, type WorkerAddress } from '../../contract/worker-address.ts';

/**
 * Hands workers' wishes on to the queues. A worker has no permission to speak to JetStream itself: the server answers a
 * JetStream request at whatever subject it names, as itself, so that whoever may make one could have the server do what it
 * may not do (empty another tier's queue, say). Tickets go from the server straight to the worker.
 */
export class JetStreamProxy {
  readonly #broker: Broker;
  readonly #stop: () => void;

  constructor(broker: Broker, ingress: string) {
    this.#broker = broker;
    const { subjects } = broker;
    const subscriptions = [
      broker.subscribe(subjects.allPulls(ingress), (message) => this.#onPull(message)),
      broker.subscribe(subjects.allAcks(ingress), ({ subject, data }) => this.#onAck(subject, data)),
    ];
    this.#stop = () => {
      for (const subscription of subscriptions) subscription.unsubscribe();
    };
  }

  close(): void {
    this.#stop();
  }

  /** Settles a ticket of a worker's tier; one of another tier, or none at all, is nothing that the worker may settle. */
  ack({ tier }: WorkerAddress, ticket: string, as: AckKind): void {
    const { subjects } = this.#broker;
    if (!isTicketOf(subjects, tier, ticket)) return;
    if (as === 'back') this.#broker.publish(ticket, ackPayloads[as]);
    else this.#broker.publishUnhurried(ticket, ackPayloads[as]);
  }

  /** A pull that waits is answered at once, so that its worker knows that it was heard, and whether it will hear of it. */
  #onPull({ subject, data, reply = '' }: Msg): void {
    const { subjects } = this.#broker;
    const worker = addressAtEnd(subject);
    const pull = decodePull(data);
    if (!worker || !pull || !isInboxOf(subjects, worker, reply)) return;
    const { batch, expiresMs, heartbeatMs } = pull;
    const heartbeat = heartbeatMs === undefined ? {} : { idle_heartbeat: nanos(heartbeatMs) };
    const options =
      expiresMs === undefined ? { batch, no_wait: true } : { batch, expires: nanos(expiresMs), ...heartbeat };
    const next = `$JS.API.CONSUMER.MSG.NEXT.${subjects.stream(worker.tier)}.${consumerName(pull)}`;
    this.#broker.publish(next, JSON.stringify(options), reply);
    if (expiresMs !== undefined) this.#broker.publish(reply, heartbeatMs === undefined ? '' : 'heartbeats');
  }

  #onAck(subject: string, payload: Uint8Array): void {
    const worker = addressAtEnd(subject);
    const ack = decodeAck(payload);
    if (worker && ack) this.ack(worker, ack.ticket, ack.as);
  }
}
