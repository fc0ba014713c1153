import { Gauge, type Registry } from 'prom-client';
import { isFailing } from '#shared/broker/contract/announcement.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { tiers } from '#shared/core/tier.ts';

type MeasuredWorker = Pick<LiveWorker, 'id' | 'announcement' | 'ownJobs' | 'otherJobs' | 'health'>;

/** Largest number of workers that have metrics of their own. The sums by tier count all workers. */
const maxWorkers = 500;

const states = ['serving', 'paused', 'failing', 'draining', 'ejected'] as const;

/** Adds gauges for the workers of the cluster. Every ingress reports the same workers. A worker that is gone is no longer reported. */
export function registerWorkerMetrics(registry: Registry, listWorkers: () => Iterable<MeasuredWorker>): void {
  const registers = [registry];
  const workers: Gauge<'tier' | 'state'> = new Gauge({
    name: 'rtr_workers',
    help: `Live workers in the cluster, by tier and state: ${states.join(', ')}`,
    labelNames: ['tier', 'state'],
    registers,
    collect: () => {
      for (const tier of tiers) for (const state of states) workers.set({ tier, state }, 0);
      for (const worker of listWorkers()) workers.inc({ tier: worker.announcement.tier, state: findState(worker) });
    },
  });
  const ejected: Gauge<'tier' | 'worker' | 'model' | 'reason'> = new Gauge({
    name: 'rtr_ejected_workers',
    help: '1 for a worker that gets no jobs of this ingress with a model because they failed or were slow, by error code or slow',
    labelNames: ['tier', 'worker', 'model', 'reason'],
    registers,
    collect: () => {
      ejected.reset();
      let listed = 0;
      for (const { id, announcement, health } of listWorkers()) {
        for (const { model, reason } of health.ejections()) {
          if (++listed > maxWorkers) return;
          ejected.set({ tier: announcement.tier, worker: id, model, reason }, 1);
        }
      }
    },
  });
  const addWorkerGauge = (name: string, help: string, value: (worker: MeasuredWorker) => number): void => {
    const gauge: Gauge<'tier' | 'worker'> = new Gauge({
      name,
      help,
      labelNames: ['tier', 'worker'],
      registers,
      collect: () => {
        gauge.reset();
        let listed = 0;
        for (const worker of listWorkers()) {
          if (++listed > maxWorkers) break;
          gauge.set({ tier: worker.announcement.tier, worker: worker.id }, value(worker));
        }
      },
    });
  };
  addWorkerGauge(
    'rtr_slots',
    'Jobs that a worker in the cluster can serve at once',
    ({ announcement }) => announcement.slots,
  );
  addWorkerGauge('rtr_busy_slots', 'Jobs that a worker in the cluster is serving', countBusySlots);
  const addTierGauge = (name: string, help: string, value: (worker: MeasuredWorker) => number): void => {
    const gauge: Gauge<'tier'> = new Gauge({
      name,
      help,
      labelNames: ['tier'],
      registers,
      collect: () => {
        for (const tier of tiers) gauge.set({ tier }, 0);
        for (const worker of listWorkers()) gauge.inc({ tier: worker.announcement.tier }, value(worker));
      },
    });
  };
  addTierGauge(
    'rtr_tier_slots',
    'Jobs that all workers of a tier can serve at once',
    ({ announcement }) => announcement.slots,
  );
  addTierGauge('rtr_tier_busy_slots', 'Jobs that all workers of a tier are serving', countBusySlots);
}

function countBusySlots({ announcement, ownJobs, otherJobs: others }: MeasuredWorker): number {
  return Math.min(announcement.slots, ownJobs + others);
}

function findState({ announcement, health }: MeasuredWorker): (typeof states)[number] {
  if (announcement.draining) return 'draining';
  if (isFailing(announcement.reason)) return 'failing';
  if (!announcement.accepting) return 'paused';
  return health.isEjected() ? 'ejected' : 'serving';
}
