import { RouterError } from '#shared/core/errors.ts';
import type { Period } from '#shared/accounts/periods.ts';
import type { AdminClient } from './admin-client.ts';
import type { AdminContext } from './admin-context.ts';
import { printList } from './print-answers.ts';
import { readFilter, formatPeriod, readPeriod, type UsageOptions } from './usage-options.ts';

interface Totals {
  requests: number;
  failed: number;
  promptTokens: number;
  completionTokens: number;
  cost: number;
}

interface Report extends Period {
  groups: { id: string; name: string; totals: Totals }[];
  /** Absent from a report by hours. */
  totals?: Totals;
}

export type ReportOptions = UsageOptions & { step: string; by: string };

/** `rtr usage report`: prints sums, grouped by one property of the requests. */
export async function showReport(context: AdminContext, options: ReportOptions): Promise<void> {
  const { client, print, json } = context;
  const { by, step } = options;
  const report = step === 'hour' ? await readHours(client, options) : await readDays(client, options);
  if (json) return print(JSON.stringify(report));
  const { groups, totals = computeSum(report.groups) } = report;
  // Several keys, people or teams may have the same name.
  const hasIds = ['key', 'user', 'team'].includes(by);
  await printList(context, [...groups, { id: '', name: 'all', totals }], {
    head: [by.toUpperCase(), ...(hasIds ? ['ID'] : []), 'REQUESTS', 'FAILED', 'INPUT', 'OUTPUT', 'DOLLARS'],
    row: ({ id, name, totals: { requests, failed, promptTokens, completionTokens, cost } }) => {
      const counts = [requests, failed, promptTokens, completionTokens, Number(cost.toFixed(6))];
      return [name || id || 'none', ...(hasIds ? [id || '-'] : []), ...counts];
    },
    none: '',
  });
  print(formatPeriod(report));
}

async function readDays(client: AdminClient, options: ReportOptions): Promise<Report> {
  const { by, step } = options;
  return client.get<Report>('/usage', { ...readPeriod(options), by, step, ...(await readFilter(client, options)) });
}

/**
 * Reads hourly sums, which are stored by model, and by key with the owner of the key.
 * @throws RouterError `invalid_request` for a filter by model, tier or purpose
 */
async function readHours(client: AdminClient, options: ReportOptions): Promise<Report> {
  const { by, model, tier, purpose } = options;
  if (model !== undefined || tier !== undefined || purpose !== undefined)
    throw new RouterError('invalid_request', 'A report by hours has filters only for key, team and person.');
  return client.get<Report>('/usage/hours', {
    ...readPeriod(options, '24h'),
    by,
    ...(await readFilter(client, options)),
  });
}

function computeSum(groups: Report['groups']): Totals {
  const sum: Totals = { requests: 0, failed: 0, promptTokens: 0, completionTokens: 0, cost: 0 };
  for (const { totals } of groups) {
    sum.requests += totals.requests;
    sum.failed += totals.failed;
    sum.promptTokens += totals.promptTokens;
    sum.completionTokens += totals.completionTokens;
    sum.cost += totals.cost;
  }
  return sum;
}
