import { Gauge, type Registry } from 'prom-client';
import { countWaitingByLane, countWaitingByTier } from '#shared/broker/dispatch/waiting-counts.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import { tiers } from '#shared/core/tier.ts';

/** Adds gauges for this ingress's jobs, computed at each scrape: all jobs by state, and waiting jobs by tier and lane. */
export function registerQueueMetrics(registry: Registry, listJobs: () => Iterable<Job>): void {
  const registers = [registry];
  const jobs: Gauge<'state'> = new Gauge({
    name: 'rtr_jobs',
    help: 'Jobs of this ingress, by state',
    labelNames: ['state'],
    registers,
    collect: () => {
      const counts = { queued: 0, claimed: 0, streaming: 0, done: 0, failed: 0, cancelled: 0 };
      for (const job of listJobs()) counts[job.state] += 1;
      for (const state of ['queued', 'claimed', 'streaming'] as const) jobs.set({ state }, counts[state]);
    },
  });
  const waiting: Gauge<'tier'> = new Gauge({
    name: 'rtr_queue_waiting',
    help: 'Waiting requests of this ingress, by tier that may serve them, whether or not it has workers',
    labelNames: ['tier'],
    registers,
    collect: () => {
      const counts = countWaitingByTier(listJobs());
      for (const tier of tiers) waiting.set({ tier }, counts[tier] ?? 0);
    },
  });
  const oldest: Gauge = new Gauge({
    name: 'rtr_queue_oldest_seconds',
    help: 'Age of the longest-waiting request of this ingress; 0 when none waits',
    registers,
    collect: () => {
      let since = performance.now();
      for (const { state, waitingSince } of listJobs()) if (state === 'queued') since = Math.min(since, waitingSince);
      oldest.set((performance.now() - since) / 1000);
    },
  });
  const stranded: Gauge = new Gauge({
    name: 'rtr_queue_without_worker',
    help: 'Waiting requests of this ingress that no live worker can serve',
    registers,
    collect: () => {
      let count = 0;
      for (const { state, noWorkerSince } of listJobs())
        if (state === 'queued' && noWorkerSince !== undefined) count += 1;
      stranded.set(count);
    },
  });
  registerLaneMetrics(registry, listJobs);
}

/** Adds gauges for lanes. Lanes come and go with the models of workers, so only lanes with waiting requests are reported. */
function registerLaneMetrics(registry: Registry, listJobs: () => Iterable<Job>): void {
  const labelNames = ['tier', 'pool', 'class'] as const;
  const depth = new Gauge({
    name: 'rtr_lane_waiting',
    help: 'Waiting requests of this ingress, by lane; a request counts in each of its lanes, empty lanes are absent',
    labelNames,
    registers: [registry],
    collect: () => {
      depth.reset();
      for (const { tier, pool, class: name, waiting } of countWaitingByLane(listJobs()))
        depth.set({ tier, pool, class: name }, waiting);
    },
  });
  const age = new Gauge({
    name: 'rtr_lane_oldest_seconds',
    help: 'Age of the longest-waiting request in a lane; empty lanes are absent',
    labelNames,
    registers: [registry],
    collect: () => {
      age.reset();
      const now = performance.now();
      for (const { tier, pool, class: name, since } of countWaitingByLane(listJobs()))
        age.set({ tier, pool, class: name }, (now - since) / 1000);
    },
  });
}
