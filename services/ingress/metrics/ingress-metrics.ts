import { Counter, Gauge, type Registry } from 'prom-client';
import { registerDependencyGauges } from '#shared/core/metrics/service-registry.ts';
import { registerFileMetrics } from '#shared/files/watch-files.ts';
import type { StoreOutcome } from '#shared/serving/stored/answer-storer.ts';
import type { HedgeOutcome } from '#shared/serving/hedging/hedges.ts';
import type { IngressContext } from '../context.ts';
import { registerBackgroundMetrics, type CountOpen } from './background-metrics.ts';
import { registerQueueMetrics } from './queue-metrics.ts';
import { registerWorkerMetrics } from './worker-metrics.ts';

export interface IngressMetricsSources {
  heldBodies: { bytes: number };
  /** Returns the bytes of requests and answers that are kept in memory so that streams can continue on another worker. */
  countKeptBytes: () => number;
  unreadOutputs: { bytes: number; givenUp: number };
  openRequests: { count: number };
  ledger: { backlog: number; dropped: number };
  limits: { reserved: number; uncommitted: number };
  store: { isLost: boolean };
  hedges: { counts: Readonly<Record<HedgeOutcome, number>> };
  storer: { counts: Readonly<Record<StoreOutcome, number>> };
}

/**
 * Adds all metrics that are computed at each scrape.
 * @param unfinishedWork see `registerBackgroundMetrics`
 */
export function registerMetrics(
  { metricsRegistry: registry, serving, openRequests, unreadOutputs }: IngressContext,
  { heldBodies, hedges, storer }: Pick<IngressMetricsSources, 'heldBodies' | 'hedges' | 'storer'>,
  unfinishedWork: Readonly<Record<string, CountOpen>>,
): void {
  const { broker, writes, dispatcher, workers, files, ledger, limits, store } = serving;
  registerDependencyGauges(registry, {
    nats: () => broker.measureRoundTripMs(),
    redis: () => writes.measureRoundTripMs(),
  });
  registerQueueMetrics(registry, () => dispatcher.jobs());
  registerWorkerMetrics(registry, () => workers.workers());
  registerFileMetrics(registry, files);
  const countKeptBytes = () => dispatcher.keptBytes;
  const own = { heldBodies, countKeptBytes, unreadOutputs, openRequests, ledger, limits, store, hedges, storer };
  registerIngressMetrics(registry, own);
  registerBackgroundMetrics(registry, unfinishedWork);
}

/**
 * Adds gauges of what the ingress has in memory (bodies, open requests, usage that is not stored yet), and counters of its hedges and
 * stored responses.
 */
export function registerIngressMetrics(
  registry: Registry,
  {
    heldBodies,
    countKeptBytes,
    unreadOutputs,
    openRequests,
    ledger,
    limits,
    hedges,
    store,
    storer,
  }: IngressMetricsSources,
): void {
  const addGauge = (name: string, help: string, read: () => number): void => {
    const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: () => gauge.set(read()) });
  };
  addGauge('rtr_held_body_bytes', 'Bytes of request bodies in memory', () => heldBodies.bytes);
  addGauge(
    'rtr_kept_bytes',
    'Bytes of requests and relayed answers in memory so that streams can continue on another worker',
    countKeptBytes,
  );
  addGauge('rtr_unread_bytes', 'Bytes of answers in memory that clients have not read', () => unreadOutputs.bytes);
  addGauge('rtr_open_requests', 'Client requests whose answer is not completely sent', () => openRequests.count);
  addGauge('rtr_usage_backlog', 'Requests that are not yet written to the usage ledger', () => ledger.backlog);
  addGauge('rtr_limits_reservations', 'Running requests with a reservation against limits', () => limits.reserved);
  addGauge(
    'rtr_limits_uncommitted',
    'Finished requests that are not yet counted against limits',
    () => limits.uncommitted,
  );
  addGauge('rtr_store_lost', 'Whether the account store was emptied or replaced and not confirmed: 1 or 0', () =>
    Number(store.isLost),
  );
  const addCounter = (name: string, help: string, read: () => number): void => {
    let counted = 0;
    const counter: Counter = new Counter({
      name,
      help,
      registers: [registry],
      collect: () => {
        const now = read();
        counter.inc(now - counted);
        counted = now;
      },
    });
  };
  addCounter(
    'rtr_unread_answers_total',
    'Answers that were ended because their clients did not read them',
    () => unreadOutputs.givenUp,
  );
  addCounter(
    'rtr_usage_dropped_total',
    'Requests missing from the usage ledger because Redis was unavailable for too long',
    () => ledger.dropped,
  );
  const addOutcomeCounter = (name: string, help: string, counts: Readonly<Record<string, number>>): void => {
    const counter: Counter<'outcome'> = new Counter({
      name,
      help,
      labelNames: ['outcome'],
      registers: [registry],
      collect: () => {
        counter.reset();
        for (const [outcome, counted] of Object.entries(counts)) counter.inc({ outcome }, counted);
      },
    });
  };
  addOutcomeCounter(
    'rtr_hedges_total',
    'Requests that were also given to a second worker, by whether the second worker served them',
    hedges.counts,
  );
  addOutcomeCounter(
    'rtr_stored_responses_total',
    'Complete responses that were to be stored: stored, too_large, or failed because Redis was away',
    storer.counts,
  );
}
