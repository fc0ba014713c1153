import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { Sent } from '../load/send-request.ts';
import type { Disturbances } from './disturbances.ts';
import type { Violation } from './violation.ts';

/** The compared fields of a record of the ledger. */
export type LedgerEntry = Pick<UsageRecord, 'id' | 'outcome' | 'completionTokens' | 'attempts'>;

/** Milliseconds of records that a killed ingress may lose because it has not written them yet. */
const writtenMs = 2_000;

/** Milliseconds of records that it may also lose: those that a failed primary has lost and the ingress would have written again. */
const rewrittenMs = 20_000;

/** Checks that the ledger has each request once, with the outcome and the tokens that its client saw. */
export function judgeLedger(
  sent: readonly Sent[],
  entries: readonly LedgerEntry[],
  disturbances: Disturbances,
): Violation[] {
  const byId = Map.groupBy(entries, ({ id }) => id);
  return sent.flatMap(({ plan: { id, ingress }, answer, endedAt = 0 }): Violation[] => {
    const records = byId.get(id) ?? [];
    const add = (detail: string): Violation[] => [{ rule: 'ledger', id, detail }];
    if (records.length > 1) return add(`${records.length} records`);
    if (answer.status !== 200 || !answer.finished) return [];
    const [record] = records;
    if (!record) {
      const failed = disturbances.any(['redis-kill', 'redis-full'], endedAt, endedAt + rewrittenMs);
      const rememberedMs = failed ? rewrittenMs : writtenMs;
      const lost = disturbances
        .during(endedAt, endedAt + rememberedMs)
        .some(({ fault: { name, index } }) => name === 'ingress-kill' && index === ingress);
      return lost ? [] : add(`no record of an answer that its client has ${seenBy(disturbances, endedAt)}`);
    }
    if (record.outcome !== 'done') return add(`${record.outcome}, but its client has all of it`);
    const { outputTokens } = answer;
    if (outputTokens === undefined || outputTokens === record.completionTokens) return [];
    return add(`${record.completionTokens} tokens instead of ${outputTokens}`);
  });
}

function seenBy(disturbances: Disturbances, at: number): string {
  const near = disturbances
    .during(at - rewrittenMs, at + rewrittenMs)
    .filter(({ fault }) => /redis|ingress/.test(fault.name));
  return near.map(({ fault: { name }, from, to }) => `${name} ${seconds(from - at)} to ${seconds(to - at)}`).join(', ');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
