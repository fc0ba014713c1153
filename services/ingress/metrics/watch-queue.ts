import { Gauge, type Registry } from 'prom-client';
import { waitingByLane, waitingByTier } from '#shared/broker/dispatch/waiting-counts.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import { tiers } from '#shared/core/tier.ts';

/** Adds the jobs in the hands of this ingress: by state, and those that wait by lane and tier. They are looked at when asked. */
export function watchQueue(registry: Registry, jobsOf: () => Iterable<Job>): void {
  const registers = [registry];
  const jobs: Gauge<'state'> = new Gauge({
    name: 'rtr_jobs',
    help: 'Jobs in the hands of this ingress, by state',
    labelNames: ['state'],
    registers,
    collect: () => {
      const counts = { queued: 0, claimed: 0, streaming: 0, done: 0, failed: 0, cancelled: 0 };
      for (const job of jobsOf()) counts[job.state] += 1;
      for (const state of ['queued', 'claimed', 'streaming'] as const) jobs.set({ state }, counts[state]);
    },
  });
  const waiting: Gauge<'tier'> = new Gauge({
    name: 'rtr_queue_waiting',
    help: 'Requests of this ingress that wait, by tier that may serve them, with workers or without',
    labelNames: ['tier'],
    registers,
    collect: () => {
      const counts = waitingByTier(jobsOf());
      for (const tier of tiers) waiting.set({ tier }, counts[tier] ?? 0);
    },
  });
  const oldest: Gauge = new Gauge({
    name: 'rtr_queue_oldest_seconds',
    help: 'How long the request of this ingress that waits longest has waited; 0 when none does',
    registers,
    collect: () => {
      let since = performance.now();
      for (const { state, waitingSince } of jobsOf()) if (state === 'queued') since = Math.min(since, waitingSince);
      oldest.set((performance.now() - since) / 1000);
    },
  });
  const stranded: Gauge = new Gauge({
    name: 'rtr_queue_without_worker',
    help: 'Requests of this ingress that wait because no live worker can serve them',
    registers,
    collect: () => {
      let count = 0;
      for (const { state, noWorkerSince } of jobsOf())
        if (state === 'queued' && noWorkerSince !== undefined) count += 1;
      stranded.set(count);
    },
  });
  watchLanes(registry, jobsOf);
}

/** Lanes come and go with what workers serve: only those are told in which something waits. */
function watchLanes(registry: Registry, jobsOf: () => Iterable<Job>): void {
  const labelNames = ['tier', 'pool', 'class'] as const;
  const depth = new Gauge({
    name: 'rtr_lane_waiting',
    help: 'Requests of this ingress that wait in a lane; one that waits in several counts in each, empty lanes are absent',
    labelNames,
    registers: [registry],
    collect: () => {
      depth.reset();
      for (const { tier, pool, class: name, waiting } of waitingByLane(jobsOf()))
        depth.set({ tier, pool, class: name }, waiting);
    },
  });
  const age = new Gauge({
    name: 'rtr_lane_oldest_seconds',
    help: 'How long the request that waits longest in a lane has waited; empty lanes are absent',
    labelNames,
    registers: [registry],
    collect: () => {
      age.reset();
      const now = performance.now();
      for (const { tier, pool, class: name, since } of waitingByLane(jobsOf()))
        age.set({ tier, pool, class: name }, (now - since) / 1000);
    },
  });
}
