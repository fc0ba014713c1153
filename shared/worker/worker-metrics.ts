import { Gauge, type Registry } from 'prom-client';
import type { ClaimEnd, MeteredJob, WorkerMeter } from '#shared/broker/worker/worker-meter.ts';
import { getOrBind, BoundCounter, type BoundCount } from '#shared/core/metrics/bound-counter.ts';
import { BoundHistogram, secondsBuckets, type BoundObservations } from '#shared/core/metrics/bound-histogram.ts';
import { BoundedNames } from '#shared/core/metrics/bounded-names.ts';
import { upstreamOutcomes, type UpstreamCall, type UpstreamOutcome } from '#shared/upstream/upstream-call.ts';

/** Label values. `taken` means that another worker has the job; `ClaimEnd` explains the other values. */
const claimOutcomes = ['grant', 'gone', 'taken', 'later', 'full', 'silent'] as const satisfies ClaimEnd[];

/** Label values: `taken` means that this worker accepted the offer. */
const offerOutcomes = ['taken', 'refused'] as const;

/**
 * A worker's states. `paused`: takes no jobs because its upstream limits it. `failing`: takes no jobs, or one at a time, because its
 * upstream fails. `offline`: has no connection to the broker.
 */
const workerStates = ['starting', 'serving', 'paused', 'failing', 'draining', 'offline'] as const;

export interface WorkerStatus {
  state: (typeof workerStates)[number];
  slots: number;
  busy: number;
  /** The reason why the worker takes no jobs, or fewer than usual; undefined if nothing limits it. */
  reason?: string | undefined;
}

/** Maximum models with a label value of their own. */
const maxModels = 100;

/** The metrics of every kind of worker. The number of label values is limited: models beyond the hundredth count as `other`. */
export class WorkerMetrics implements WorkerMeter {
  readonly #jobs: BoundCounter<'format' | 'operation' | 'model' | 'outcome'>;
  readonly #durations: BoundHistogram<'format' | 'operation' | 'model'>;
  readonly #errors: BoundCounter<'code'>;
  readonly #claims: Record<(typeof claimOutcomes)[number], BoundCount>;
  readonly #claimTime: BoundObservations;
  readonly #offers: Record<(typeof offerOutcomes)[number], BoundCount>;
  readonly #stops: BoundCount;
  readonly #upstream: Record<UpstreamOutcome, BoundCount>;
  readonly #upstreamFirstTokenTime: BoundObservations;
  readonly #upstreamDuration: BoundObservations;
  readonly #models = new BoundedNames(maxModels);
  readonly #boundJobs = new Map<string, BoundCount>();
  readonly #boundDurations = new Map<string, BoundObservations>();
  readonly #boundErrors = new Map<string, BoundCount>();

  /** @param readStatus returns the worker's current state and load */
  constructor(registry: Registry, readStatus: () => WorkerStatus) {
    const registers = [registry];
    this.#jobs = new BoundCounter({
      name: 'rtr_worker_jobs_total',
      help: 'Finished jobs, granted or accepted as an offer, by outcome',
      labelNames: ['format', 'operation', 'model', 'outcome'],
      registers,
    });
    this.#durations = new BoundHistogram({
      name: 'rtr_worker_job_duration_seconds',
      help: 'Time from the grant, or the accepted offer, to the end of the job',
      labelNames: ['format', 'operation', 'model'],
      buckets: secondsBuckets,
      registers,
    });
    this.#errors = new BoundCounter({
      name: 'rtr_worker_errors_total',
      help: 'Jobs that failed on the worker, by error code',
      labelNames: ['code'],
      registers,
    });
    const claims = new BoundCounter({
      name: 'rtr_worker_claims_total',
      help: "Claims, by outcome: the dispatcher's answer (grant, gone, taken, later), full (no memory for the body) or silent (no answer in time)",
      labelNames: ['outcome'],
      registers,
    });
    this.#claims = bindAll(claimOutcomes, (outcome) => claims.bind({ outcome }));
    this.#claimTime = new BoundHistogram({
      name: 'rtr_worker_claim_seconds',
      help: 'Time from the claim to the grant with the whole request body',
      buckets: secondsBuckets,
      registers,
    }).bind({});
    const offers = new BoundCounter({
      name: 'rtr_worker_offers_total',
      help: "Jobs that an ingress offered without a ticket, by the worker's answer",
      labelNames: ['outcome'],
      registers,
    });
    this.#offers = bindAll(offerOutcomes, (outcome) => offers.bind({ outcome }));
    this.#stops = new BoundCounter({
      name: 'rtr_worker_pauses_total',
      help: 'Times the worker stopped taking jobs because its upstream failed, was unreachable or limited it',
      registers,
    }).bind({});
    const upstream = new BoundCounter({
      name: 'rtr_upstream_requests_total',
      help: 'Finished requests to the engine or provider, by class of status or kind of failure',
      labelNames: ['outcome'],
      registers,
    });
    this.#upstream = bindAll(upstreamOutcomes, (outcome) => upstream.bind({ outcome }));
    this.#upstreamFirstTokenTime = new BoundHistogram({
      name: 'rtr_upstream_first_token_seconds',
      help: 'Time from a request to the engine or provider to the first piece of its streamed answer',
      buckets: secondsBuckets,
      registers,
    }).bind({});
    this.#upstreamDuration = new BoundHistogram({
      name: 'rtr_upstream_duration_seconds',
      help: 'Time from a request to the engine or provider to the end of its answer',
      buckets: secondsBuckets,
      registers,
    }).bind({});
    registerStatusGauges(registry, readStatus);
  }

  countClaim(outcome: ClaimEnd, ms: number): void {
    this.#claims[outcome].add();
    if (outcome === 'grant') this.#claimTime.observe(ms / 1000);
  }

  countOffer(outcome: (typeof offerOutcomes)[number]): void {
    this.#offers[outcome].add();
  }

  countJob({ format, operation, model: name, outcome, code, ms }: MeteredJob): void {
    const model = this.#models.toLabel(name);
    const labels = { format, operation, model };
    const key = `${format} ${operation} ${model}`;
    getOrBind(this.#boundJobs, `${key} ${outcome}`, () => this.#jobs.bind({ ...labels, outcome })).add();
    getOrBind(this.#boundDurations, key, () => this.#durations.bind(labels)).observe(ms / 1000);
    if (code !== undefined) getOrBind(this.#boundErrors, code, () => this.#errors.bind({ code })).add();
  }

  countStop(): void {
    this.#stops.add();
  }

  countUpstreamRequest({ outcome, firstMs, ms }: UpstreamCall): void {
    this.#upstream[outcome].add();
    if (firstMs !== undefined) this.#upstreamFirstTokenTime.observe(firstMs / 1000);
    this.#upstreamDuration.observe(ms / 1000);
  }
}

function registerStatusGauges(registry: Registry, readStatus: () => WorkerStatus): void {
  const registers = [registry];
  const slots: Gauge = new Gauge({
    name: 'rtr_worker_slots',
    help: 'Jobs that the worker can serve at once',
    registers,
    collect: () => slots.set(readStatus().slots),
  });
  const busy: Gauge = new Gauge({
    name: 'rtr_worker_busy_slots',
    help: 'Jobs that the worker is serving',
    registers,
    collect: () => busy.set(readStatus().busy),
  });
  const states: Gauge<'state'> = new Gauge({
    name: 'rtr_worker_state',
    help: `1 for the worker's current state, 0 for the others: ${workerStates.join(', ')}`,
    labelNames: ['state'],
    registers,
    collect: () => {
      const current = readStatus().state;
      for (const state of workerStates) states.set({ state }, state === current ? 1 : 0);
    },
  });
}

function bindAll<Name extends string>(
  names: readonly Name[],
  bind: (name: Name) => BoundCount,
): Record<Name, BoundCount> {
  return Object.fromEntries(names.map((name) => [name, bind(name)])) as Record<Name, BoundCount>;
}
