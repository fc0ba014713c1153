import { quantile } from '../../bench/report/quantile.ts';
import { table } from '../../bench/report/table.ts';
import type { ChaosResult } from '../run-chaos.ts';

/** What a run came to, as text: its seed, faults by outcomes, recovery, and every violation. */
export function report({ seed, requests, failures, blamed, outcomes, recovery, violations }: ChaosResult): string {
  const head = ['fault', 'times', 'done', 'moved', 'ended', 'refused', 'broken', 'left'];
  const rows = Array.from(outcomes, ([name, { faults, done, moved, ended, refused, broken, left }]) => [
    name,
    ...[faults, done, moved, ended, refused, broken, left].map(String),
  ]);
  const sorted = recovery.toSorted((one, other) => one - other);
  const at = (share: number): string => (sorted.length === 0 ? '-' : `${Math.round(quantile(sorted, share))} ms`);
  return [
    '',
    `chaos: seed ${seed}, ${requests} requests (repeat with CHAOS_SEED=${seed})`,
    ...table(head, rows),
    `kill -9 to first moved text: p50 ${at(0.5)}, p99 ${at(0.99)}, of ${sorted.length} streams`,
    `failures: ${failures.map(([failure, count]) => `${count} × ${failure}`).join(', ') || 'none'}`,
    `innocent requests taken for ones that kill workers: ${blamed}`,
    ...violations.map(({ rule, id, detail }) => `VIOLATION ${rule}: ${id} ${detail}`),
    '',
  ].join('\n');
}
