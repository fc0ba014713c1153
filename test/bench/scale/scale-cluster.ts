import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Releases } from '#shared/core/release.ts';
import { partStarter, startCore, startUpstream } from '../cluster/start-core.ts';
import { startBenchRedis } from '../cluster/start-servers.ts';
import { until } from '../../helpers/until.ts';
import { RtrKeys } from '../peers/systems/rtr-keys.ts';
import { maxTickets } from './orders.ts';
import type { IngressesAnswer, IngressesOrder, WorkersAnswer, WorkersOrder } from './orders.ts';
import { startScaleNats } from './scale-nats.ts';

const prefix = 'scale';

/** Milliseconds until the cluster is in its steady state: workers send heartbeats, and code that runs each second has been compiled. */
const settleMs = 60_000;

/** Milliseconds within which the ingress must list every change. */
const knownMs = 60_000;

export interface ScaleSize {
  ingresses: number;
  workers: number;
  /** Kinds of engines among the workers; each kind is a pool. */
  pools: number;
  models: number;
  slots: number;
  answerMs: number;
  natsServers: 1 | 3;
}

/** Starts the cluster and registers its release. Resolves when the real ingress lists all workers. */
export async function startScaleCluster(size: ScaleSize, releases: Releases) {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-scale-'));
  releases.add('the folder', () => rmSync(folder, { recursive: true, force: true }));
  const nats = await startScaleNats(size.natsServers);
  releases.add('nats', () => nats.stop());
  const redis = await startBenchRedis(folder, releases);
  const start = partStarter(folder, releases);
  const { port: upstreamPort } = await startUpstream(start);
  const key = await RtrKeys.makeOne(redis.url, prefix);
  const settings = { ingress: { MAX_QUEUED: String(maxTickets) }, logLevel: 'warn' as const };
  const { port, ingress, startWorker } = await startCore(start, { nats, redis, prefix, ...settings });
  const worker = startWorker('worker', upstreamPort, { SLOTS: String(size.slots) });
  const standInWorkers = start('stand-in-workers', 'test/bench/scale/stand-in-workers.ts');
  const standInIngresses = start('stand-in-ingresses', 'test/bench/scale/stand-in-ingresses.ts');
  const askWorkers = (order: WorkersOrder) => standInWorkers.ask<WorkersAnswer>(order);
  const askIngresses = (order: IngressesOrder) => standInIngresses.ask<IngressesAnswer>(order);
  const place = { natsUrl: nats.url, prefix };
  await askIngresses({ kind: 'start', ...place, count: size.ingresses - 1 });
  const { pools, models, slots, answerMs } = size;
  const addWorkers = async (count: number): Promise<void> => {
    await askWorkers({ kind: 'start', ...place, count, pools, models, slots, answerMs });
  };
  await addWorkers(size.workers - 1);
  const cluster = {
    nats,
    ingress,
    worker,
    standInWorkers,
    standInIngresses,
    /** The real ingress, as clients see it. */
    url: `http://127.0.0.1:${port}`,
    key,
    askWorkers,
    askIngresses,
    addWorkers,
    knownWorkers: async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
      const health = answer && ((await answer.json()) as { workers: Record<string, number> });
      return health?.workers['gpu'] ?? 0;
    },
  };
  await untilKnown(cluster, (known) => known === size.workers);
  await sleep(settleMs);
  return cluster;
}

/** A cluster with one real ingress, one real worker and real servers; all others are stand-ins in two processes. */
export type ScaleCluster = Awaited<ReturnType<typeof startScaleCluster>>;

/**
 * Waits until the real ingress lists this number of workers.
 * @throws Error after a minute
 */
export async function untilKnown(
  { knownWorkers }: { knownWorkers: () => Promise<number> },
  isAsWanted: (known: number) => boolean,
): Promise<void> {
  await until(async () => isAsWanted(await knownWorkers()), knownMs);
}
