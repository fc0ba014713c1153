import { formatCount, formatTime } from '../client/amounts.ts';
import type { ClientContext } from '../client/client-context.ts';
import { toTableLines } from '../table-lines.ts';
import { countDone, type BatchObject } from './batch-object.ts';

interface BatchPage {
  data: BatchObject[];
  has_more: boolean;
}

/** Maximum number of batches that the API lists at once. */
const pageSize = 100;

/** `rtr batches list [--limit <count>]`: lists the newest batches of the key's owner; with `json`, one JSON object per line. */
export async function listBatches({ client, print, json }: ClientContext, limit: number): Promise<void> {
  const batches: BatchObject[] = [];
  let hasMore = true;
  while (hasMore && batches.length < limit) {
    const last = batches.at(-1);
    const after = last ? `&after=${encodeURIComponent(last.id)}` : '';
    const count = Math.min(pageSize, limit - batches.length);
    const page = await client.call<BatchPage>('GET', `/batches?limit=${count}${after}`);
    batches.push(...page.data);
    hasMore = page.has_more && page.data.length > 0;
  }
  if (json) for (const batch of batches) print(JSON.stringify(batch));
  else if (batches.length === 0) print('There are no batches.');
  else for (const line of toBatchTable(batches)) print(line);
}

function toBatchTable(batches: readonly BatchObject[]): string[] {
  const rows = batches.map((batch) => {
    const { total, failed } = batch.request_counts;
    const { id, status, paused, created_at: created, model = '-' } = batch;
    const done = `${formatCount(countDone(batch))} of ${formatCount(total)}`;
    return [id, paused ? 'paused' : status, done, formatCount(failed), formatTime(created), model];
  });
  return toTableLines([['ID', 'STATUS', 'DONE', 'FAILED', 'CREATED (UTC)', 'MODEL'], ...rows]);
}
