import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { loadConfig, type Environment } from '#shared/core/load-config.ts';
import { createLog, type Logger } from '#shared/core/log.ts';
import { MemoryBudget, computeMemoryShare } from '#shared/core/memory-budget.ts';
import type { Releases } from '#shared/core/release.ts';
import { runService } from '#shared/core/run-service.ts';
import type { Tier } from '#shared/core/tier.ts';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import { version } from '#shared/core/version.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { openWorkerAdmin, type WorkerAdmin } from './worker-admin.ts';
import type { workerSettings } from './worker-settings.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readBrokerAccess } from '#shared/broker/connection/broker-settings.ts';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { startWorker, type Worker } from '#shared/broker/worker/start-worker.ts';
import type { WorkerFacts, WorkerOptions } from '#shared/broker/worker/worker-options.ts';

/**
 * All bodies of jobs together may use the memory limit divided by this number. Each body is in memory several times while it is parsed,
 * translated and sent on.
 */
const bodyMemoryDivisor = 12;

/**
 * Milliseconds in which the pieces of a stream are collected, so that they are sent together. Tools send few pieces, each by itself.
 */
const coalesceMs = 5;

type WorkerConfig = z.ZodObject<typeof workerSettings & { DRAIN_MS: z.ZodType<number> }>;

export interface WorkerContext<Config extends WorkerConfig> {
  config: z.output<Config>;
  environment: Environment;
  log: Logger;
  releases: Releases;
  admin: WorkerAdmin;
  /** The worker's circuit breaker. It watches all jobs by itself, except the jobs of a tools worker. */
  breaker: Pick<CircuitBreaker, 'setHealthy'>;
  /** Announces the worker's facts. Call it whenever they change; calls before the worker runs have no effect. */
  announce: () => void;
}

/** One worker, ready to be connected to the broker. */
export interface WorkerDefinition extends Pick<WorkerOptions, 'kind' | 'formats' | 'handler'> {
  facts: () => WorkerFacts;
}

/**
 * Runs a worker's `main.ts`: reads its settings, opens log, traces and admin port, builds the worker and connects it to the broker. On
 * SIGTERM it drains the worker and closes everything in reverse order.
 * @param build opens the upstream of the worker, such as an engine, and registers its releases
 */
export async function runWorker<Config extends WorkerConfig>(
  tier: Tier,
  configSchema: Config,
  build: (context: WorkerContext<Config>) => Promise<WorkerDefinition>,
): Promise<void> {
  const service = `${tier}-worker`;
  await runService(async (environment, releases) => {
    const config: z.output<WorkerConfig> = loadConfig(configSchema, environment);
    const id = config.WORKER_ID ?? `${tier}-${randomUUID().slice(0, 8)}`;
    const log = createLog({ service, level: config.LOG_LEVEL, format: config.LOG_FORMAT }).child({ worker: id });
    const tracing = await openTracing({ service, instance: id, environment, log });
    if (tracing) releases.add('traces', () => tracing.close());
    const admin = await openWorkerAdmin(service, config, log, releases);

    let worker: Worker | undefined;
    let facts: (() => WorkerFacts) | undefined;
    const announce = (): void => {
      if (facts) worker?.update(facts());
    };
    const breaker = new CircuitBreaker(log, announce);
    releases.add('circuit breaker', () => breaker.close());
    const context = { config: config as z.output<Config>, environment, log, releases, admin, breaker, announce };
    const definition = await build(context);
    facts = () => breaker.restrict(definition.facts());

    const broker = await connectBroker({ ...readBrokerAccess(config), name: id, prefix: config.RTR_PREFIX, log });
    releases.add('broker', () => broker.close());
    const { kind, formats } = definition;
    // Failures of one tool show nothing about the other tools, so each tool has a circuit breaker of its own.
    const handler = tier === 'tools' ? definition.handler : breaker.wrapHandler(definition.handler);
    const options = {
      broker,
      log,
      id,
      tier,
      kind,
      formats,
      version,
      handler,
      coalesceMs: tier === 'tools' ? 0 : coalesceMs,
      tracing,
      meter: admin.metrics,
      memory: new FrameMemory(),
      bodies: new MemoryBudget(computeMemoryShare(bodyMemoryDivisor, process.constrainedMemory())),
    };
    const startedWorker = startWorker({ ...options, ...facts() });
    releases.add('worker', async () => {
      await startedWorker.drain(config.DRAIN_MS);
      await startedWorker.close();
    });
    worker = startedWorker;
    admin.follow(startedWorker, broker);
    // The facts may have changed while the worker started.
    announce();
    const { models, tools = [], slots } = facts();
    log.info({ kind, slots, models: models.length, tools: tools.length }, `${service} is ready`);
  });
}
