import { Gauge, type Registry } from 'prom-client';
import type { ErrorCode } from '../errors.ts';
import { BoundCounter, type BoundCount } from './bound-counter.ts';
import { BoundHistogram, type BoundObservations } from './bound-histogram.ts';
import { bound } from './bound.ts';
import { BoundedNames } from './bounded-names.ts';
import { secondsBuckets } from './buckets.ts';

/** What came of a ticket that the worker took; `silent`: its ingress did not answer. */
const claimOutcomes = ['grant', 'gone', 'taken', 'later', 'silent'] as const;

/** What the worker said to an offered job. */
const offerOutcomes = ['taken', 'refused'] as const;

/** How a request to an upstream ended: by its status, or without an answer to its end. */
const upstreamOutcomes = ['2xx', '3xx', '429', '4xx', '5xx', 'unreachable', 'timeout', 'broken', 'aborted'] as const;

/** What a worker is doing: `paused` takes nothing because its upstream is ill or limits it, `offline` has no broker. */
const workerStates = ['starting', 'serving', 'paused', 'draining', 'offline'] as const;

export type ClaimOutcomeName = (typeof claimOutcomes)[number];
export type OfferOutcomeName = (typeof offerOutcomes)[number];
export type UpstreamOutcome = (typeof upstreamOutcomes)[number];
export type WorkerStateName = (typeof workerStates)[number];

/** A job that is over, as the worker saw it. */
export interface WorkerJob {
  format: string;
  operation: string;
  model: string;
  outcome: 'done' | 'failed' | 'cancelled';
  code?: ErrorCode | undefined;
  ms: number;
}

/** One request to an upstream that is over. `firstMs`: until the first piece of a streamed answer. */
export interface UpstreamCall {
  outcome: UpstreamOutcome;
  firstMs: number | undefined;
  ms: number;
}

/** What a worker announces of itself. */
export interface WorkerStanding {
  state: WorkerStateName;
  slots: number;
  busy: number;
}

/** Models, and codes of errors, that are told apart. */
const mostModels = 100;

/** What every kind of worker counts. Label values are bounded: models beyond the hundredth count as `other`. */
export class WorkerMetrics {
  readonly #jobs: BoundCounter<'format' | 'operation' | 'model' | 'outcome'>;
  readonly #durations: BoundHistogram<'format' | 'operation' | 'model'>;
  readonly #errors: BoundCounter<'code'>;
  readonly #claims: Record<ClaimOutcomeName, BoundCount>;
  readonly #claimTime: BoundObservations;
  readonly #offers: Record<OfferOutcomeName, BoundCount>;
  readonly #pauses: BoundCount;
  readonly #upstream: Record<UpstreamOutcome, BoundCount>;
  readonly #upstreamFirst: BoundObservations;
  readonly #upstreamDuration: BoundObservations;
  readonly #models = new BoundedNames(mostModels);
  readonly #jobCounts = new Map<string, BoundCount>();
  readonly #jobTimes = new Map<string, BoundObservations>();
  readonly #errorCounts = new Map<string, BoundCount>();

  /** @param standing how the worker stands right now */
  constructor(registry: Registry, standing: () => WorkerStanding) {
    const registers = [registry];
    this.#jobs = new BoundCounter({
      name: 'rtr_worker_jobs_total',
      help: 'Jobs that the worker was granted and that are over, by how they ended',
      labelNames: ['format', 'operation', 'model', 'outcome'],
      registers,
    });
    this.#durations = new BoundHistogram({
      name: 'rtr_worker_job_duration_seconds',
      help: 'From the grant of a job to its end',
      labelNames: ['format', 'operation', 'model'],
      buckets: secondsBuckets,
      registers,
    });
    this.#errors = new BoundCounter({
      name: 'rtr_worker_errors_total',
      help: 'Jobs that failed on the worker, by the code of their error',
      labelNames: ['code'],
      registers,
    });
    const claims = new BoundCounter({
      name: 'rtr_worker_claims_total',
      help: 'Tickets that the worker took, by what their ingress said to the claim; silent: nothing in time',
      labelNames: ['outcome'],
      registers,
    });
    this.#claims = bindAll(claimOutcomes, (outcome) => claims.bind({ outcome }));
    this.#claimTime = new BoundHistogram({
      name: 'rtr_worker_claim_seconds',
      help: 'From a ticket taken to the grant with the whole body of the request',
      buckets: secondsBuckets,
      registers,
    }).bind({});
    const offers = new BoundCounter({
      name: 'rtr_worker_offers_total',
      help: 'Jobs that an ingress offered without a ticket, by what the worker said to that',
      labelNames: ['outcome'],
      registers,
    });
    this.#offers = bindAll(offerOutcomes, (outcome) => offers.bind({ outcome }));
    this.#pauses = new BoundCounter({
      name: 'rtr_worker_pauses_total',
      help: 'How often the worker stopped taking jobs because its upstream was ill, unreachable or limited it',
      registers,
    }).bind({});
    const upstream = new BoundCounter({
      name: 'rtr_upstream_requests_total',
      help: 'Requests to the engine or provider that are over, by class of status or by how they broke off',
      labelNames: ['outcome'],
      registers,
    });
    this.#upstream = bindAll(upstreamOutcomes, (outcome) => upstream.bind({ outcome }));
    this.#upstreamFirst = new BoundHistogram({
      name: 'rtr_upstream_first_token_seconds',
      help: 'From a request to the engine or provider to the first piece of its streamed answer',
      buckets: secondsBuckets,
      registers,
    }).bind({});
    this.#upstreamDuration = new BoundHistogram({
      name: 'rtr_upstream_duration_seconds',
      help: 'From a request to the engine or provider to the end of its answer',
      buckets: secondsBuckets,
      registers,
    }).bind({});
    watchStanding(registry, standing);
  }

  /** Counts what came of a ticket. `ms`: from taking it to the outcome. */
  claimed(outcome: ClaimOutcomeName, ms: number): void {
    this.#claims[outcome].add();
    if (outcome === 'grant') this.#claimTime.observe(ms / 1000);
  }

  offered(outcome: OfferOutcomeName): void {
    this.#offers[outcome].add();
  }

  finished({ format, operation, model: name, outcome, code, ms }: WorkerJob): void {
    const model = this.#models.of(name);
    const labels = { format, operation, model };
    const key = `${format} ${operation} ${model}`;
    bound(this.#jobCounts, `${key} ${outcome}`, () => this.#jobs.bind({ ...labels, outcome })).add();
    bound(this.#jobTimes, key, () => this.#durations.bind(labels)).observe(ms / 1000);
    if (code !== undefined) bound(this.#errorCounts, code, () => this.#errors.bind({ code })).add();
  }

  paused(): void {
    this.#pauses.add();
  }

  asked({ outcome, firstMs, ms }: UpstreamCall): void {
    this.#upstream[outcome].add();
    if (firstMs !== undefined) this.#upstreamFirst.observe(firstMs / 1000);
    this.#upstreamDuration.observe(ms / 1000);
  }
}

function watchStanding(registry: Registry, standing: () => WorkerStanding): void {
  const registers = [registry];
  const slots: Gauge = new Gauge({
    name: 'rtr_worker_slots',
    help: 'Jobs that the worker serves at once',
    registers,
    collect: () => slots.set(standing().slots),
  });
  const busy: Gauge = new Gauge({
    name: 'rtr_worker_busy_slots',
    help: 'Jobs that the worker serves now',
    registers,
    collect: () => busy.set(standing().busy),
  });
  const states: Gauge<'state'> = new Gauge({
    name: 'rtr_worker_state',
    help: `1 for what the worker is doing, 0 for the others: ${workerStates.join(', ')}`,
    labelNames: ['state'],
    registers,
    collect: () => {
      const now = standing().state;
      for (const state of workerStates) states.set({ state }, state === now ? 1 : 0);
    },
  });
}

function bindAll<Name extends string>(
  names: readonly Name[],
  bind: (name: Name) => BoundCount,
): Record<Name, BoundCount> {
  return Object.fromEntries(names.map((name) => [name, bind(name)])) as Record<Name, BoundCount>;
}
