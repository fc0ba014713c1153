import { buildPath, type AdminClient } from './admin-client.ts';
import type { AdminContext } from './admin-context.ts';
import { formatMinute, printList } from './print-answers.ts';
import { readFilter, type UsageOptions } from './usage-options.ts';

interface UsageRequest {
  id: string;
  at: number;
  key: { id: string; name: string };
  owner?: { name: string };
  asked: string;
  model?: string;
  tier?: string;
  outcome: string;
  code?: string;
  totalMs: number;
  promptTokens: number;
  completionTokens: number;
  cost: number;
}

export type RequestOptions = UsageOptions & { limit: number; id?: string; code?: string };

const pageSize = 200;

/** `rtr usage requests`: lists single requests, newest first. */
export async function listRequests(context: AdminContext, options: RequestOptions): Promise<void> {
  const { client } = context;
  const requests =
    options.id === undefined
      ? readRequests(client, options)
      : await client.get<UsageRequest[]>(buildPath`/usage/requests/${options.id}`);
  await printList(context, requests, {
    head: ['AT (UTC)', 'ID', 'OWNER', 'KEY', 'MODEL', 'TIER', 'OUTCOME', 'MS', 'INPUT', 'OUTPUT', 'DOLLARS'],
    row: ({ at, id, owner, key, asked, model = asked, tier = '-', outcome, code, ...counts }) => {
      const { totalMs, promptTokens, completionTokens, cost } = counts;
      const outcomeText = code === undefined ? outcome : `${outcome}: ${code}`;
      const amounts = [Math.round(totalMs), promptTokens, completionTokens, Number(cost.toFixed(6))];
      return [formatMinute(at), id, owner?.name ?? '-', key.name, model, tier, outcomeText, ...amounts];
    },
    none: 'There are no such requests.',
  });
}

async function* readRequests(
  client: AdminClient,
  { limit, from, to, code, ...options }: RequestOptions,
): AsyncGenerator<UsageRequest> {
  const filter = await readFilter(client, options);
  let before: string | undefined;
  let remaining = limit;
  do {
    const query = { ...filter, from, to, code, limit: Math.min(remaining, pageSize), before };
    const page = await client.get<{ requests: UsageRequest[]; next?: string }>('/usage/requests', query);
    yield* page.requests;
    remaining -= page.requests.length;
    before = page.next;
  } while (before !== undefined && remaining > 0);
}
