import { AlertStates } from '#shared/accounts/alerts/alert-states.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { Releases } from '#shared/core/release.ts';
import type { OpenServing } from '#shared/serving/open/open-serving.ts';
import { budgetLook } from '../alerts/look-at-budgets.ts';
import { lookAtWorkers } from '../alerts/look-at-workers.ts';
import { WorkerView } from '../alerts/worker-view.ts';
import type { ScheduledWork } from './start-scheduled.ts';

const secondMs = 1_000;

/**
 * All work that the cluster does again and again.
 * @param prefix what all names in Redis begin with
 */
export function scheduledWork(
  { redis: { redis }, accounts, limits, workers, broker, unreadable }: OpenServing,
  { prefix, releases }: { prefix: string; releases: Releases },
): Record<'budgets' | 'workers', ScheduledWork> {
  const states = new AlertStates(redis, prefix);
  const usage = new UsageReader(redis, prefix, unreadable);
  const view = new WorkerView(workers, broker);
  releases.add('view of workers', () => view.close());
  const lookAtBudgets = budgetLook({ accounts, limits, usage, states });
  return {
    budgets: { everyMs: 30 * secondMs, run: () => lookAtBudgets() },
    workers: {
      everyMs: 5 * secondMs,
      run: async () => {
        const seen = view.read();
        if (seen) await lookAtWorkers(seen, states);
      },
    },
  };
}
