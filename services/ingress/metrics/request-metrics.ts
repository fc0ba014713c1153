import type { Registry } from 'prom-client';
import { continuationOutcomes } from '#shared/broker/dispatch/continuation/stream-continuation.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import { getOrBind, BoundCounter, type BoundCount } from '#shared/core/metrics/bound-counter.ts';
import {
  BoundHistogram,
  secondsBuckets,
  speedBuckets,
  type BoundObservations,
} from '#shared/core/metrics/bound-histogram.ts';
import { BoundedNames } from '#shared/core/metrics/bounded-names.ts';
import { ModelSpeeds } from './model-speeds.ts';

/** Largest number of models and tools that have metrics of their own. */
const maxModels = 100;

/** Largest number of registry rules that have metrics of their own. */
const maxRules = 100;

const limitCodes = [
  'rate_limit_exceeded',
  'token_limit_exceeded',
  'insufficient_quota',
  'request_exceeds_limit',
] as const satisfies readonly ErrorCode[];

/** The speed of a stream is measured only if the stream lasts at least this many milliseconds. */
const minStreamMs = 50;

interface Series {
  outcomes: Record<'done' | 'failed' | 'cancelled', BoundCount>;
  duration: BoundObservations;
  queueWait: BoundObservations;
  firstToken: BoundObservations;
  speed: BoundObservations;
  promptTokens: BoundCount;
  cachedTokens: BoundCount;
  completionTokens: BoundCount;
}

/**
 * The request metrics of an ingress: rate, errors and duration by format, model and tier, and the tokens. Names and units follow the
 * conventions of Prometheus. A model's name comes from the worker that served it, never from a client. After the first hundred models, all
 * others count as `other`. Requests that no worker served count under the tier and model `none`.
 */
export class RequestMetrics {
  readonly #requests: BoundCounter<'format' | 'model' | 'tier' | 'outcome'>;
  readonly #duration: BoundHistogram<'format' | 'model' | 'tier'>;
  readonly #queueWait: BoundHistogram<'tier'>;
  readonly #firstToken: BoundHistogram<'model' | 'tier'>;
  readonly #speed: BoundHistogram<'model' | 'tier'>;
  readonly #tokens: BoundCounter<'model' | 'tier' | 'kind'>;
  readonly #refusals: BoundCounter<'format' | 'code'>;
  readonly #limited: BoundCounter<'code'>;
  readonly #moves: BoundCounter<'reason'>;
  readonly #continuations: BoundCounter<'outcome'>;
  readonly #rules: BoundCounter<'rule'>;
  readonly #models = new BoundedNames(maxModels);
  readonly #ruleNames = new BoundedNames(maxRules);
  readonly speeds = new ModelSpeeds();
  readonly #series = new Map<string, Series>();
  readonly #modelSeries = new Map<string, Omit<Series, 'outcomes' | 'duration' | 'queueWait'>>();
  readonly #queueWaits = new Map<string, BoundObservations>();
  readonly #counts = new Map<string, BoundCount>();

  /** @param formats names of the formats whose counters start at 0 */
  constructor(registry: Registry, formats: readonly string[]) {
    const registers = [registry];
    this.#requests = new BoundCounter({
      name: 'rtr_requests_total',
      help: 'Dispatched requests that are over, by outcome: done, failed, or cancelled by the client',
      labelNames: ['format', 'model', 'tier', 'outcome'],
      registers,
    });
    this.#duration = new BoundHistogram({
      name: 'rtr_request_duration_seconds',
      help: 'Time from a request to the end of its answer',
      labelNames: ['format', 'model', 'tier'],
      buckets: secondsBuckets,
      registers,
    });
    this.#queueWait = new BoundHistogram({
      name: 'rtr_queue_wait_seconds',
      help: 'Time from a request to the claim, or the accepted offer, of the worker that served it',
      labelNames: ['tier'],
      buckets: secondsBuckets,
      registers,
    });
    this.#firstToken = new BoundHistogram({
      name: 'rtr_time_to_first_token_seconds',
      help: 'Time from a request to the first byte of its answer',
      labelNames: ['model', 'tier'],
      buckets: secondsBuckets,
      registers,
    });
    this.#speed = new BoundHistogram({
      name: 'rtr_output_tokens_per_second',
      help: 'Output tokens per second while an answer streamed',
      labelNames: ['model', 'tier'],
      buckets: speedBuckets,
      registers,
    });
    this.#tokens = new BoundCounter({
      name: 'rtr_tokens_total',
      help: 'Tokens counted by the upstreams, by kind: prompt, cached (part of prompt), completion',
      labelNames: ['model', 'tier', 'kind'],
      registers,
    });
    this.#refusals = new BoundCounter({
      name: 'rtr_refusals_total',
      help: 'Requests that ended with an error, dispatched or not, by error code',
      labelNames: ['format', 'code'],
      registers,
    });
    this.#limited = new BoundCounter({
      name: 'rtr_limits_refused_total',
      help: 'Requests that a limit of a key, a person or a team refused, by error code',
      labelNames: ['code'],
      registers,
    });
    this.#moves = new BoundCounter({
      name: 'rtr_moves_total',
      help: 'Requests moved from a worker that was lost or failed to another one, by error code',
      labelNames: ['reason'],
      registers,
    });
    this.#continuations = new BoundCounter({
      name: 'rtr_continuations_total',
      help: 'Interrupted streams that lost their worker, by outcome: continued on another worker, refused by the other worker, mismatch of its text, no_worker in time, failed again, or not_kept for lack of memory',
      labelNames: ['outcome'],
      registers,
    });
    this.#rules = new BoundCounter({
      name: 'rtr_rule_requests_total',
      help: 'Dispatched requests for which a rule of the registry chose the target, by rule',
      labelNames: ['rule'],
      registers,
    });
    // Prometheus sees no increase in a counter that appears with its first event, so these counters start at 0.
    for (const code of limitCodes) this.#bindLimit(code);
    for (const outcome of continuationOutcomes) this.#bindContinuation(outcome);
    for (const [code, { movable, status }] of Object.entries(errorTable)) {
      if (movable) this.#bindMove(code);
      if (status >= 500) for (const format of formats) this.#bindRefusal(format, code);
    }
  }

  countJob(format: string, report: JobReport): void {
    const { attempt, queuedAt, claimedAt, firstByteAt, endedAt, state, end, error, moves, continuations } = report;
    const series = this.#findSeries(format, attempt?.placement.model, attempt?.worker.announcement.tier ?? 'none');
    series.outcomes[state === 'done' || state === 'cancelled' ? state : 'failed'].add();
    series.duration.observe((endedAt - queuedAt) / 1000);
    if (claimedAt !== undefined) series.queueWait.observe((claimedAt - queuedAt) / 1000);
    if (firstByteAt !== undefined) series.firstToken.observe((firstByteAt - queuedAt) / 1000);
    for (const reason of moves) this.#bindMove(reason).add();
    for (const outcome of continuations) this.#bindContinuation(outcome).add();
    if (error) this.countRefusal(format, error);
    if (!end) return;
    const { promptTokens, cachedTokens, completionTokens } = end.usage;
    series.promptTokens.add(promptTokens);
    series.cachedTokens.add(cachedTokens);
    series.completionTokens.add(completionTokens);
    const streamedMs = endedAt - (firstByteAt ?? endedAt);
    if (streamedMs < minStreamMs) return;
    const speed = (completionTokens * 1000) / streamedMs;
    series.speed.observe(speed);
    if (attempt) this.speeds.add(attempt.placement.model, speed);
  }

  countRule(rule: string): void {
    const label = this.#ruleNames.toLabel(rule);
    getOrBind(this.#counts, `rule ${label}`, () => this.#rules.bind({ rule: label })).add();
  }

  countRefusal(format: string, { code }: Pick<RouterError, 'code'>): void {
    this.#bindRefusal(format, code).add();
  }

  countLimitRefusal(code: ErrorCode): void {
    this.#bindLimit(code).add();
  }

  #bindLimit(code: string): BoundCount {
    return getOrBind(this.#counts, `limit ${code}`, () => this.#limited.bind({ code }));
  }

  #bindRefusal(format: string, code: string): BoundCount {
    return getOrBind(this.#counts, `refusal ${format} ${code}`, () => this.#refusals.bind({ format, code }));
  }

  #bindMove(reason: string): BoundCount {
    return getOrBind(this.#counts, `move ${reason}`, () => this.#moves.bind({ reason }));
  }

  #bindContinuation(outcome: string): BoundCount {
    return getOrBind(this.#counts, `continuation ${outcome}`, () => this.#continuations.bind({ outcome }));
  }

  #findSeries(format: string, servedModel: string | undefined, tier: string): Series {
    const model = servedModel === undefined ? 'none' : this.#models.toLabel(servedModel);
    return getOrBind(this.#series, `${format} ${tier} ${model}`, () => ({
      outcomes: {
        done: this.#requests.bind({ format, model, tier, outcome: 'done' }),
        failed: this.#requests.bind({ format, model, tier, outcome: 'failed' }),
        cancelled: this.#requests.bind({ format, model, tier, outcome: 'cancelled' }),
      },
      duration: this.#duration.bind({ format, model, tier }),
      queueWait: getOrBind(this.#queueWaits, tier, () => this.#queueWait.bind({ tier })),
      ...getOrBind(this.#modelSeries, `${tier} ${model}`, () => ({
        firstToken: this.#firstToken.bind({ model, tier }),
        speed: this.#speed.bind({ model, tier }),
        promptTokens: this.#tokens.bind({ model, tier, kind: 'prompt' }),
        cachedTokens: this.#tokens.bind({ model, tier, kind: 'cached' }),
        completionTokens: this.#tokens.bind({ model, tier, kind: 'completion' }),
      })),
    }));
  }
}
