import { countText, timeText } from '../client/amounts.ts';
import type { ClientContext } from '../client/client-context.ts';
import { tableLines } from '../table-lines.ts';
import { doneOf, type BatchObject } from './batch-object.ts';

/** `rtr batches list [--limit <count>]`: the newest batches of the key's owner; with `json`, one per line. */
export async function listBatches({ client, print, json }: ClientContext, limit: number): Promise<void> {
  const { data } = await client.call<{ data: BatchObject[] }>('GET', `/batches?limit=${limit}`);
  if (json) for (const batch of data) print(JSON.stringify(batch));
  else if (data.length === 0) print('There are no batches.');
  else for (const line of table(data)) print(line);
}

function table(batches: readonly BatchObject[]): string[] {
  const rows = batches.map((batch) => {
    const { total, failed } = batch.request_counts;
    const { id, status, paused, created_at: created, model = '-' } = batch;
    const done = `${countText(doneOf(batch))} of ${countText(total)}`;
    return [id, paused ? 'paused' : status, done, countText(failed), timeText(created), model];
  });
  return tableLines([['ID', 'STATUS', 'DONE', 'FAILED', 'CREATED (UTC)', 'MODEL'], ...rows]);
}
