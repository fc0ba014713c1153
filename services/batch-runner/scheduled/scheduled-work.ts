import type { z } from 'zod';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { AlertStates } from '#shared/accounts/alerts/alert-states.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import { partyNames } from '#shared/accounts/people/party-names.ts';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import type { ServingResources } from '#shared/serving/open/open-serving.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createBudgetCheck } from '../alerts/check-budgets.ts';
import { ErrorView } from '../alerts/error-view.ts';
import { checkErrorRate } from '../alerts/check-error-rate.ts';
import { checkExpiringKeys } from '../alerts/check-expiring-keys.ts';
import { checkModels } from '../alerts/check-models.ts';
import { checkWorkers } from '../alerts/check-workers.ts';
import { WorkerView } from '../alerts/worker-view.ts';
import { repairBatches } from '../batches/repair-batches.ts';
import type { batchRunnerConfig } from '../config.ts';
import { exportUsage, type UsageExportParts } from '../exports/export-usage.ts';
import { sweep, type SweepParts } from '../sweeps/sweep.ts';
import type { ScheduledWork } from './start-scheduled.ts';

const secondMs = 1_000;
/** A model is not reported before it has had no worker for this many milliseconds, even if requests wait less long for a worker. */
const minGraceMs = 10_000;

const dayMs = 24 * 3_600_000;

export interface ScheduledWorkOptions {
  config: z.output<typeof batchRunnerConfig>;
  /** Prefix of all names in Redis. */
  prefix: string;
  work: BatchWork;
  jobs: BackgroundJobs;
  webhooks: Pick<Webhooks, 'deliveries'>;
  countSwept: SweepParts['count'];
  log: Logger;
  releases: Releases;
}

export function createScheduledWork(
  {
    redis: { redis },
    accounts,
    limits,
    workers,
    broker,
    registry,
    files,
    storedResponses,
    reportUnreadable,
  }: ServingResources,
  { config, prefix, work, jobs, webhooks: { deliveries }, countSwept: count, log, releases }: ScheduledWorkOptions,
): Record<'batches' | 'budgets' | 'errors' | 'keys' | 'workers' | 'usage-exports' | 'sweep', ScheduledWork> {
  const states = new AlertStates(redis, prefix, config.SMTP_URL !== undefined);
  const usage = new UsageReader(redis, prefix, reportUnreadable);
  const view = new WorkerView(workers, broker);
  releases.add('view of workers', () => view.close());
  const errors = new ErrorView(broker);
  releases.add('view of errors', () => errors.close());
  const graceMs = Math.max(minGraceMs, config.NO_WORKER_TIMEOUT_MS);
  const lookAtBudgets = createBudgetCheck({
    accounts,
    issuers: () => registry.current().token_issuers,
    limits,
    usage,
    states,
  });
  const exports: UsageExportParts = {
    team: config.USAGE_EXPORT_TEAM,
    hour: config.USAGE_EXPORT_HOUR,
    teams: accounts.teams,
    usage,
    namesOf: (parties) => partyNames(accounts, parties),
    files,
    states,
    requestsKeptMs: config.USAGE_DAYS * dayMs,
    log,
  };
  return {
    batches: { everyMs: 15 * secondMs, run: () => repairBatches({ work, jobs, log }) },
    budgets: { everyMs: 30 * secondMs, run: () => lookAtBudgets() },
    errors: {
      everyMs: 10 * secondMs,
      run: () => checkErrorRate(errors.read(), { states, percent: config.ALERT_ERROR_PERCENT }),
    },
    keys: { everyMs: 600 * secondMs, run: () => checkExpiringKeys({ keys: accounts.keys, states }) },
    workers: {
      everyMs: 5 * secondMs,
      run: async () => {
        const seen = view.read();
        if (!seen) return;
        await checkWorkers(seen, states);
        await checkModels(seen, { states, graceMs });
      },
    },
    sweep: { everyMs: 300 * secondMs, run: () => sweep({ stored: storedResponses, deliveries, work, files, count }) },
    'usage-exports': { everyMs: 60 * secondMs, run: () => exportUsage(exports) },
  };
}
