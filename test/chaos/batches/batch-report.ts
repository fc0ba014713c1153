import { table } from '../../bench/report/table.ts';
import type { BatchChaosResult } from './run-batch-chaos.ts';

/** Milliseconds in which a process loads what it needs. */
const warmMs = 10_000;

/** Returns a report of a run: its seed, the faults, the memory of every process that ran for long, and every violation. */
export function batchReport({ seed, lines, seconds, again, struck, seen, violations }: BatchChaosResult): string {
  const faults = Map.groupBy(struck, ({ fault }) => fault.name);
  const rows = [...Map.groupBy(seen, ({ pid }) => pid).values()].flatMap((all) => {
    const [first, last] = [all[0], all.at(-1)];
    if (!first || !last || last.at - first.at < 3 * warmMs) return [];
    const warm = all.filter(({ at }) => at >= first.at + warmMs).map(({ memory }) => memory);
    const third = Math.ceil(warm.length / 3);
    const most = (some: readonly number[]): string => String(Math.round(Math.max(...some)));
    const lived = `${Math.round((last.at - first.at) / 1_000)}`;
    return [[first.name, lived, most(warm.slice(0, third)), most(warm.slice(-third))]];
  });
  return [
    '',
    `batch: seed ${seed}, ${lines} lines in ${Math.round(seconds)} s, ${again} executed again`,
    `killed: ${Array.from(faults, ([name, some]) => `${some.length} × ${name}`).join(', ')}`,
    ...table(['process', 'seconds', 'MiB, first third', 'MiB, last third'], rows),
    ...violations.slice(0, 50).map(({ rule, id, detail }) => `VIOLATION ${rule}: ${id} ${detail}`),
    '',
  ].join('\n');
}
