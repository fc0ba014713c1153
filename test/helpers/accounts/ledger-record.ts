import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';

const who = { key: { id: 'k1', name: 'laptop' }, owner: { kind: 'user', id: 'ada' } } as const;
const what = { format: 'chat', operation: 'generate', asked: 'auto', model: 'm1', tier: 'gpu', worker: 'w1' } as const;
const end = { outcome: 'done', attempts: 1, queueMs: 1, firstTokenMs: 50, totalMs: 400 } as const;
const use = { promptTokens: 10, cachedTokens: 2, completionTokens: 5, reasoningTokens: 1, cost: 1_000 };
let count = 0;

/** Creates the record of a finished request, with an id of its own unless the fields have one. */
export function ledgerRecord(fields: Partial<UsageRecord>): UsageRecord {
  return { id: `req_${(count += 1)}`, at: Date.now(), ...who, ...what, ...end, ...use, ...fields };
}
