import type { Period } from '#shared/accounts/periods.ts';
import type { AdminContext, AdminOptions } from './admin-context.ts';
import { printList } from './print-answers.ts';
import { formatPeriod } from './usage-options.ts';

export type OverviewOptions = AdminOptions & { span: string };

interface OverviewRow {
  id: string;
  name: string;
  owner?: string;
  requests: number;
  failed: number;
  tokens: number;
  cost: number;
}

interface Overview extends Period {
  totals: { requests: number; failed: number; promptTokens: number; completionTokens: number; cost: number };
  firstTokenMs?: { p50: number; p95: number };
  totalMs?: { p50: number; p95: number };
  models: OverviewRow[];
  keys: OverviewRow[];
  workers: OverviewRow[];
}

/** `rtr usage overview`: prints sums of the last hour, day or week. */
export async function showOverview(context: AdminContext, { span }: OverviewOptions): Promise<void> {
  const { client, print, json } = context;
  const overview = await client.get<Overview>('/usage/overview', { span });
  if (json) return print(JSON.stringify(overview));
  const { totals, firstTokenMs, totalMs, models, keys, workers } = overview;
  const { requests, failed, promptTokens, completionTokens, cost } = totals;
  const total: OverviewRow = { id: '', name: 'all', requests, failed, tokens: promptTokens + completionTokens, cost };
  const rows = [
    { kind: 'all', row: total },
    ...models.map((row) => ({ kind: 'model', row })),
    ...keys.map((row) => ({ kind: 'key', row })),
    ...workers.map((row) => ({ kind: 'worker', row })),
  ];
  await printList(context, rows, {
    head: ['OF', 'NAME', 'OWNER', 'REQUESTS', 'FAILED', 'TOKENS', 'DOLLARS'],
    row: ({ kind, row }) => {
      const counts = [row.requests, row.failed, row.tokens, Number(row.cost.toFixed(6))];
      return [kind, row.name, row.owner ?? '-', ...counts];
    },
    none: '',
  });
  print(formatPeriod(overview));
  const times = Object.entries({ 'First token': firstTokenMs, 'Whole answer': totalMs });
  for (const [name, time] of times)
    if (time) print(`${name}: p50 ${Math.round(time.p50)} ms, p95 ${Math.round(time.p95)} ms`);
}
