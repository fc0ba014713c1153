import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { RouterError } from '#shared/core/errors.ts';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { JobReport } from '#shared/broker/dispatch/job.ts';

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** What the ingress counts, for Prometheus. Names and units follow Prometheus' conventions. */
export class IngressMetrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'family' | 'tier' | 'outcome'>;
  readonly #refusals: Counter<'family' | 'code'>;
  readonly #queueWait: Histogram<'tier'>;
  readonly #firstByte: Histogram<'tier'>;
  readonly #duration: Histogram<'tier'>;
  readonly #tokens: Counter<'model' | 'kind'>;
  readonly #moves: Counter;

  constructor(
    dispatcher: Pick<Dispatcher, 'jobs'>,
    held: { bytes: number },
    open: { count: number },
    ledger: { dropped: number },
  ) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new Counter({
      name: 'rtr_requests_total',
      help: 'Requests that were dispatched and are over, by how they ended',
      labelNames: ['family', 'tier', 'outcome'],
      registers,
    });
    this.#refusals = new Counter({
      name: 'rtr_refusals_total',
      help: 'Requests that ended with an error, by its code',
      labelNames: ['family', 'code'],
      registers,
    });
    this.#queueWait = new Histogram({
      name: 'rtr_queue_wait_seconds',
      help: 'From the request to the claim that served it',
      labelNames: ['tier'],
      buckets: seconds,
      registers,
    });
    this.#firstByte = new Histogram({
      name: 'rtr_time_to_first_token_seconds',
      help: 'From the request to the first byte of its answer',
      labelNames: ['tier'],
      buckets: seconds,
      registers,
    });
    this.#duration = new Histogram({
      name: 'rtr_request_duration_seconds',
      help: 'From the request to the end of its answer',
      labelNames: ['tier'],
      buckets: seconds,
      registers,
    });
    this.#tokens = new Counter({
      name: 'rtr_tokens_total',
      help: 'Tokens as counted by the engines',
      labelNames: ['model', 'kind'],
      registers,
    });
    this.#moves = new Counter({
      name: 'rtr_moves_total',
      help: 'Attempts beyond the first: a worker was lost or failed, and the job went to another one',
      registers,
    });
    const heldBytes: Gauge = new Gauge({
      name: 'rtr_held_body_bytes',
      help: 'Bytes of request bodies in memory',
      registers,
      collect: () => heldBytes.set(held.bytes),
    });
    const droppedUse: Gauge = new Gauge({
      name: 'rtr_usage_dropped',
      help: 'Requests that were not written into the usage ledger, because Redis was away for too long',
      registers,
      collect: () => droppedUse.set(ledger.dropped),
    });
    const openRequests: Gauge = new Gauge({
      name: 'rtr_open_requests',
      help: 'Requests of clients that are not answered to the last byte yet',
      registers,
      collect: () => openRequests.set(open.count),
    });
    const jobs = new Gauge({
      name: 'rtr_jobs',
      help: 'Jobs in the hands of this ingress, by state',
      labelNames: ['state'],
      registers,
      collect: () => {
        const counts = { queued: 0, claimed: 0, streaming: 0, done: 0, failed: 0, cancelled: 0 };
        for (const job of dispatcher.jobs()) counts[job.state] += 1;
        for (const state of ['queued', 'claimed', 'streaming'] as const) jobs.set({ state }, counts[state]);
      },
    });
  }

  /** Counts a dispatched job that is over. */
  countJob(family: string, report: JobReport): void {
    const { served, queuedAt, claimedAt, firstByteAt, endedAt, state, end, error, attempts } = report;
    const tier = served?.worker.announcement.tier ?? 'none';
    this.#requests.inc({ family, tier, outcome: state });
    this.#duration.observe({ tier }, (endedAt - queuedAt) / 1000);
    if (claimedAt !== undefined) this.#queueWait.observe({ tier }, (claimedAt - queuedAt) / 1000);
    if (firstByteAt !== undefined) this.#firstByte.observe({ tier }, (firstByteAt - queuedAt) / 1000);
    if (attempts > 1) this.#moves.inc(attempts - 1);
    if (error) this.countRefusal(family, error);
    if (!end || !served) return;
    const { model } = served.placement;
    this.#tokens.inc({ model, kind: 'prompt' }, end.usage.promptTokens);
    this.#tokens.inc({ model, kind: 'completion' }, end.usage.completionTokens);
  }

  /** Counts an answer that was an error. */
  countRefusal(family: string, { code }: RouterError): void {
    this.#refusals.inc({ family, code });
  }
}
