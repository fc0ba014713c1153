import type { Period } from '#shared/accounts/periods.ts';
import type { AdminContext, AdminOptions } from './admin-context.ts';
import { printList } from './print-answers.ts';
import { formatPeriod } from './usage-options.ts';

export type OverviewOptions = AdminOptions & { span: string };

interface Thing {
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
  models: Thing[];
  keys: Thing[];
  workers: Thing[];
}

/** `rtr usage overview`: prints sums of the last hour, day or week. */
export async function showOverview(context: AdminContext, { span }: OverviewOptions): Promise<void> {
  const { client, print, json } = context;
  const found = await client.get<Overview>('/usage/overview', { span });
  if (json) return print(JSON.stringify(found));
  const { totals, firstTokenMs, totalMs, models, keys, workers } = found;
  const { requests, failed, promptTokens, completionTokens, cost } = totals;
  const all: Thing = { id: '', name: 'all', requests, failed, tokens: promptTokens + completionTokens, cost };
  const things = [
    { kind: 'all', thing: all },
    ...models.map((thing) => ({ kind: 'model', thing })),
    ...keys.map((thing) => ({ kind: 'key', thing })),
    ...workers.map((thing) => ({ kind: 'worker', thing })),
  ];
  await printList(context, things, {
    head: ['OF', 'NAME', 'OWNER', 'REQUESTS', 'FAILED', 'TOKENS', 'DOLLARS'],
    row: ({ kind, thing }) => {
      const counts = [thing.requests, thing.failed, thing.tokens, Number(thing.cost.toFixed(6))];
      return [kind, thing.name, thing.owner ?? '-', ...counts];
    },
    none: '',
  });
  print(formatPeriod(found));
  const times = Object.entries({ 'First token': firstTokenMs, 'Whole answer': totalMs });
  for (const [name, time] of times)
    if (time) print(`${name}: p50 ${Math.round(time.p50)} ms, p95 ${Math.round(time.p95)} ms`);
}
