import type { ResultLine } from '../../helpers/batches/batch-clients.ts';
import type { LedgerEntry } from '../oracle/judge-ledger.ts';
import type { Violation } from '../oracle/violation.ts';

export interface BatchOutcome {
  /** The `custom_id` of every line of its input. */
  ids: readonly string[];
  /** The lines of its files with results and with errors. */
  results: readonly ResultLine[];
  /** Every request in the ledger. */
  entries: readonly LedgerEntry[];
}

/** Checks that a batch has the answer of every line once, and the ledger the request of every line once and nothing else. */
export function judgeBatch({ ids, results, entries }: BatchOutcome): Violation[] {
  const byId = Map.groupBy(results, ({ custom_id: id }) => id);
  const records = Map.groupBy(entries, ({ id }) => id);
  const known = new Set(ids);
  const unknown = [...byId.keys()].filter((id) => !known.has(id));
  const found = ids.flatMap((id): Violation[] => {
    const [first, ...others] = byId.get(id) ?? [];
    const add = (detail: string): Violation[] => [{ rule: 'batch', id, detail }];
    if (!first || others.length > 0) return add(`${first ? others.length + 1 : 0} results`);
    const { response } = first;
    if (response?.status_code !== 200) return add(`no answer, but ${JSON.stringify(first)}`);
    if (!JSON.stringify(response.body).includes(`${id}.`)) return add('the answer of another line');
    const charges = records.get(response.request_id)?.length ?? 0;
    return charges === 1 ? [] : add(`${charges} records in the ledger`);
  });
  if (entries.length !== ids.length)
    found.push({ rule: 'ledger', id: 'batch', detail: `${entries.length} records of ${ids.length} lines` });
  return [...found, ...unknown.map((id): Violation => ({ rule: 'batch', id, detail: 'a result without a line' }))];
}
