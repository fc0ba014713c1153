import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../helpers/seeded-random.ts';
import type { ChaosCluster } from '../cluster/chaos-cluster.ts';
import type { Crowds } from '../faults/inject.ts';
import { planRequest, type KeyKind, type RequestPlan } from './request-plan.ts';
import { sendRequest, type Sent } from './send-request.ts';

/** The keys of probes; the first two of them send streams. */
const probed: readonly KeyKind[] = ['shared', 'free', 'concurrent', 'free'];

/** Requests in flight above which the load waits. */
const maxOpen = 120;

/** A request that was sent twice with one idempotency key. */
export interface SentAgain {
  first: Sent;
  again: Sent;
}

export class Load implements Crowds {
  /** Every request so far, running ones included. */
  readonly sent: Sent[] = [];
  /** The requests that were sent once more, in the order of sending. */
  readonly sentAgain: SentAgain[] = [];
  readonly #cluster: ChaosCluster;
  readonly #name: string;
  readonly #random: () => number;
  readonly #maxMs: number;
  readonly #running = new Set<Promise<unknown>>();
  #count = 0;

  /**
   * @param name first part of its requests' ids
   * @param maxMs milliseconds after which a request counts as one that never ends
   */
  constructor(cluster: ChaosCluster, name: string, seed: number, maxMs: number) {
    this.#cluster = cluster;
    this.#name = name;
    this.#random = seededRandom(seed);
    this.#maxMs = maxMs;
  }

  /** Sends requests at a rate (a second) until the signal. */
  async run(rate: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#running.size < maxOpen) this.#send({});
      await sleep(1_000 / rate);
    }
  }

  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Sends requests of every format to every ingress, and waits for their end. */
  async probe(): Promise<Sent[]> {
    const from = this.sent.length;
    for (const format of ['chat', 'messages', 'tools'] as const) {
      for (const [at, key] of probed.entries()) {
        const stream = format !== 'tools' && at < 2;
        for (const ingress of [0, 1])
          this.#send({ format, stream, behaviour: 'reads', ingress, key, againMs: undefined });
      }
    }
    await this.settle();
    return this.sent.slice(from);
  }

  flood(): void {
    for (let count = 0; count < 60; count += 1) {
      this.#send({ format: 'chat', stream: count % 2 === 0, words: 10, behaviour: 'reads', key: 'shared' });
    }
  }

  vanish(): void {
    this.#streams(() => ({ words: 120, rate: 80, delayMs: 0, behaviour: 'vanishes' }));
  }

  stall(): void {
    this.#streams(() => ({ words: 120, behaviour: 'stalls' }));
  }

  wait(): void {
    this.#streams((ingress) => ({ words: 10, delayMs: 1_500, behaviour: 'reads', ingress }));
  }

  poison(ingress: number): void {
    this.#send({ format: 'chat', stream: true, behaviour: 'reads', poison: true, ingress, againMs: undefined });
  }

  /** Records a request, and sends it once more if its plan says so. */
  #begun(first: Sent): void {
    this.sent.push(first);
    const { plan } = first;
    if (plan.againMs === undefined) return;
    const other = plan.ingress === 0 ? 1 : 0;
    const again = { ...plan, ingress: other };
    const keep = (sent: Sent): void => void this.sentAgain.push({ first, again: sent });
    this.#track(sleep(plan.againMs).then(() => this.#sendTo(again, keep)));
  }

  /** Sends twelve streams of two formats in turn. @param also has what they have besides, for 0 and 1 in turn */
  #streams(also: (turn: number) => Partial<RequestPlan>): void {
    for (let count = 0; count < 12; count += 1) {
      const turn = count % 2;
      this.#send({ format: turn === 0 ? 'chat' : 'messages', stream: true, ...also(turn) });
    }
  }

  #sendTo(plan: RequestPlan, onSent: (sent: Sent) => void): Promise<Sent> {
    const url = this.#cluster.ingresses[plan.ingress]?.url ?? '';
    return sendRequest(plan, { url, key: this.#cluster.keys[plan.key] }, this.#maxMs, onSent);
  }

  #track(running: Promise<unknown>): void {
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  #send(also: Partial<RequestPlan>): void {
    const planned = planRequest(`${this.#name}-${this.#count++}`, this.#random, also);
    const { ingresses } = this.#cluster;
    // As a load balancer does, which leaves out nodes that are not ready.
    const isUp = ingresses[planned.ingress]?.part.isUp() === true;
    const ingress = isUp ? planned.ingress : ingresses.findIndex(({ part }) => part.isUp());
    const plan = { ...planned, ingress: Math.max(0, ingress) };
    this.#track(this.#sendTo(plan, (sent) => this.#begun(sent)));
  }
}
