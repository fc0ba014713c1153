import type { SentAgain } from '../load/load.ts';
import type { Disturbances } from './disturbances.ts';
import type { LedgerEntry } from './judge-ledger.ts';
import type { Violation } from './violation.ts';

/** Faults with which an ingress may lose the key of a request that it serves, or the store forget it. */
const losing = [
  'ingress-kill',
  'ingress-stop',
  'ingress-cut',
  'ingress-clock',
  'redis-kill',
  'redis-stop',
  'redis-full',
] as const;

/** For how long such a fault may show. */
const laterMs = 10_000;

/** Judges that a request which was sent twice with one idempotency key was served and charged once. */
export function judgeAgain(
  pairs: readonly SentAgain[],
  entries: readonly LedgerEntry[],
  disturbances: Disturbances,
): Violation[] {
  const done = Map.groupBy(
    entries.filter(({ outcome }) => outcome === 'done'),
    ({ id }) => id,
  );
  return pairs.flatMap(({ first, again }): Violation[] => {
    const { id } = first.plan;
    const to = Math.max(first.endedAt ?? Infinity, again.endedAt ?? Infinity);
    if (disturbances.any(losing, first.sentAt - laterMs, to + laterMs)) return [];
    const records = done.get(id)?.length ?? 0;
    return records > 1 ? [{ rule: 'executed twice', id, detail: `${records} complete answers are charged` }] : [];
  });
}
