import { quantile } from '../../bench/report/quantile.ts';
import { table } from '../../bench/report/table.ts';
import type { FaultName } from '../faults/fault-kinds.ts';
import type { ChaosResult } from '../run-chaos.ts';
import type { Outcomes } from './outcomes.ts';

/** Returns the report of a run: its seed, faults by outcomes, recovery, and every violation. */
export function report(result: ChaosResult): string {
  const { seed, requests, failures, failedShare, blamed, outcomes, leftOut, recovery, violations, logged } = result;
  return [
    '',
    `chaos: seed ${seed}, ${requests} requests (repeat with --seed ${seed})`,
    ...outcomeTable(outcomes),
    ...(leftOut.length > 0 ? [`left out, as the system permits no namespaces: ${leftOut.join(', ')}`] : []),
    ...recovery.map(
      ([name, waits]) =>
        `${name} to first text: p50 ${at(waits, 0.5)} ms, p99 ${at(waits, 0.99)} ms, of ${waits.length} streams`,
    ),
    `failed: ${(failedShare * 100).toFixed(1)} % (${failures.map(([failure, count]) => `${count} × ${failure}`).join(', ')})`,
    `innocent requests taken for ones that kill workers: ${blamed}`,
    ...violations.map(({ rule, id, detail }) => `VIOLATION ${rule}: ${id} ${detail}`),
    ...logged,
    '',
  ].join('\n');
}

/** Returns the lines of a table of faults: the outcomes of the requests that met them, and how long those waited for their text. */
export function outcomeTable(outcomes: Map<FaultName, Outcomes>): string[] {
  const head = ['fault', 'times', 'done', 'moved', 'ended', 'refused', 'broken', 'left', 'p50 ms', 'p99 ms'];
  const rows = Array.from(outcomes, ([name, { faults, done, moved, ended, refused, broken, left, waits }]) => [
    name,
    ...[faults, done, moved, ended, refused, broken, left].map(String),
    at(waits, 0.5),
    at(waits, 0.99),
  ]);
  return table(head, rows);
}

function at(list: readonly number[], share: number): string {
  if (list.length === 0) return '-';
  const sorted = list.toSorted((one, other) => one - other);
  return String(Math.round(quantile(sorted, share)));
}
