import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { AlertStates } from '#shared/accounts/webhooks/alerts/alert-states.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import { sweptStores, type SweptStore } from '#shared/accounts/people/owned-kinds.ts';
import { partyNames } from '#shared/accounts/people/party-names.ts';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { createBudgetCheck } from '../alerts/check-budgets.ts';
import { ErrorView } from '../alerts/error-view.ts';
import { checkErrorRate } from '../alerts/check-error-rate.ts';
import { checkExpiringKeys } from '../alerts/check-expiring-keys.ts';
import { checkModels } from '../alerts/check-models.ts';
import { checkWorkers } from '../alerts/check-workers.ts';
import { WorkerView } from '../alerts/worker-view.ts';
import { repairBatches } from '../batches/repair-batches.ts';
import type { RunnerContext } from '../context.ts';
import { exportUsage, type UsageExportParts } from '../exports/export-usage.ts';
import { sweep } from '../sweeps/sweep.ts';

const secondMs = 1_000;
/** Milliseconds without a worker after which a model is reported. A larger `NO_WORKER_TIMEOUT_MS` applies instead. */
const minGraceMs = 10_000;

const dayMs = 24 * 3_600_000;

/** Hour of the day (UTC) at which the usage of the day before is exported. */
const exportHour = 1;

/** Percentage of failed requests above which an alert begins. */
const alertPercent = 20;

/** A periodic task. Each time that the task is due, one runner of the cluster runs it. */
export interface ScheduledTask {
  everyMs: number;
  /** May be called while an earlier call still runs, in this process or on another runner. */
  run: () => Promise<void>;
}

/** Creates the periodic tasks of batch runners, by name. */
export function createScheduledTasks(
  { config, prefix, serving, jobs, metrics, log, releases }: RunnerContext,
  batches: BatchWork,
  { deliveries }: Pick<Webhooks, 'deliveries'>,
): Record<'batches' | 'budgets' | 'errors' | 'keys' | 'workers' | 'usage-exports' | 'sweep', ScheduledTask> {
  const { accounts, limits, workers, broker, registry, files, reportUnreadable } = serving;
  const { redis } = serving.redis;
  const count = metrics.countSwept.bind(metrics);
  const states = new AlertStates(redis, prefix, config.SMTP_URL !== undefined);
  const usage = new UsageReader(redis, prefix, reportUnreadable);
  const workerView = new WorkerView(workers, broker);
  releases.add('view of workers', () => workerView.close());
  const errorView = new ErrorView(broker);
  releases.add('view of errors', () => errorView.close());
  const graceMs = Math.max(minGraceMs, config.NO_WORKER_TIMEOUT_MS);
  const checkBudgets = createBudgetCheck({
    accounts,
    issuers: () => registry.current().token_issuers,
    limits,
    usage,
    states,
  });
  const exports: UsageExportParts = {
    team: config.USAGE_EXPORT_TEAM,
    hour: exportHour,
    teams: accounts.teams,
    usage,
    findNames: (parties) => partyNames(accounts, parties),
    files,
    states,
    requestsKeptMs: config.USAGE_DAYS * dayMs,
    log,
  };
  const sweepStore = (kind: SweptStore): Promise<number> => sweptStores[kind].sweep(redis, prefix);
  return {
    batches: { everyMs: 15 * secondMs, run: () => repairBatches({ batches, jobs, log }) },
    budgets: { everyMs: 30 * secondMs, run: () => checkBudgets() },
    errors: {
      everyMs: 10 * secondMs,
      run: () => checkErrorRate(errorView.read(), { states, percent: alertPercent }),
    },
    keys: { everyMs: 600 * secondMs, run: () => checkExpiringKeys({ keys: accounts.keys, states }) },
    workers: {
      everyMs: 5 * secondMs,
      run: async () => {
        const snapshot = workerView.read();
        if (!snapshot) return;
        await checkWorkers(snapshot, states);
        await checkModels(snapshot, { states, graceMs });
      },
    },
    sweep: { everyMs: 300 * secondMs, run: () => sweep({ sweepStore, deliveries, batches, files, count }) },
    'usage-exports': { everyMs: 60 * secondMs, run: () => exportUsage(exports) },
  };
}
