import type { SentAgain } from '../load/load.ts';
import type { Disturbances } from './disturbances.ts';
import { judgeLedger, type LedgerEntry } from './judge-ledger.ts';
import type { Violation } from './violation.ts';

/** Faults with which an ingress may lose the key of a request that it serves, or the store may lose it. */
const losing = [
  'ingress-kill',
  'ingress-stop',
  'ingress-cut',
  'ingress-clock',
  'redis-kill',
  'redis-stop',
  'redis-full',
] as const;

/** Milliseconds after which such a fault may still show. */
const laterMs = 10_000;

/** Checks that a request which was sent twice with one idempotency key was served and charged once, as its clients saw it. */
export function judgeAgain(
  pairs: readonly SentAgain[],
  entries: readonly LedgerEntry[],
  disturbances: Disturbances,
): Violation[] {
  const isDone = entries.filter(({ outcome }) => outcome === 'done');
  const done = Map.groupBy(isDone, ({ id }) => id);
  return pairs.flatMap(({ first, again }): Violation[] => {
    const { id } = first.plan;
    const to = Math.max(first.endedAt ?? Infinity, again.endedAt ?? Infinity);
    if (disturbances.any(losing, first.sentAt - laterMs, to + laterMs)) return [];
    const records = done.get(id) ?? [];
    if (records.length > 1)
      return [{ rule: 'executed twice', id, detail: `${records.length} complete answers are charged` }];
    const whole = [first, again].find(({ answer: { status, finished } }) => status === 200 && finished);
    if (!whole) return [];
    // Either ingress may have executed it, and may have lost the record with its end.
    const [ofOne, ofOther] = [first, again].map(({ plan }) => judgeLedger([{ ...whole, plan }], records, disturbances));
    return ofOther?.length === 0 ? [] : (ofOne ?? []);
  });
}
