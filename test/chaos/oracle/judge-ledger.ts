import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { Sent } from '../load/send-request.ts';
import type { Disturbances } from './disturbances.ts';
import type { Violation } from './violation.ts';

/** What is compared of a record of the ledger. */
export type LedgerEntry = Pick<UsageRecord, 'id' | 'outcome' | 'completionTokens' | 'attempts'>;

/**
 * An ingress that is killed takes with it what it has not written yet, and a primary what its replica has not received yet: up to
 * this long. While sentinels elect, a primary that still runs takes records that its successor never receives.
 */
const writtenMs = 2_000;

/** Milliseconds between an answer's end and its record, and until a signal has ended a process. */
const strikeMs = 300;

/** Judges that the ledger has each request once, with the outcome and the tokens that its client saw. */
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
      const lost = disturbances.during(endedAt, endedAt + writtenMs).some(({ fault: { name, index }, from }) => {
        const isIngress = name === 'ingress-kill' && index === ingress;
        return isIngress || (name === 'redis-kill' && from >= endedAt - strikeMs) || name === 'redis-full';
      });
      return lost ? [] : add('no record of an answer that its client has');
    }
    if (record.outcome !== 'done') return add(`${record.outcome}, but its client has all of it`);
    const { outputTokens } = answer;
    if (outputTokens === undefined || outputTokens === record.completionTokens) return [];
    return add(`${record.completionTokens} tokens instead of ${outputTokens}`);
  });
}
