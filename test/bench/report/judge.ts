import type { Comparison } from '../compare.ts';
import type { Budget } from '../plan.ts';
import type { Results } from './results.ts';

export interface Verdict {
  what: string;
  value: number;
  limit: number;
  unit: string;
  passed: boolean;
}

export function judge({ busy, single, streams, flatness, openStreams }: Results, budget: Budget): Verdict[] {
  const growth = Object.values(flatness.growth);
  const sides = [busy, single, streams].flatMap(({ direct, bare, through }) => [direct, bare, through]);
  const failed = sides.map((side) => side.failures);
  const addedMs = streams.through.firstMs.p50 - streams.direct.firstMs.p50;
  return [
    verdict('CPU of a request, all parts', totalCpuMs(busy), budget.cpuMs, 'ms'),
    verdict('added time to first token, p50', addedMs, budget.addedFirstMs, 'ms'),
    verdict('memory of an open stream, all parts', openStreams.total / 1024, budget.openStreamBytes / 1024, 'KiB'),
    verdict('left behind by a request, held', total(growth.map(({ held }) => held)), budget.heldBytes, 'bytes'),
    verdict('left behind by a request, resident', total(growth.map(({ rss }) => rss)), budget.rssBytes, 'bytes'),
    verdict('failed requests', failures([...failed, flatness.failures, openStreams.failures]), 0, ''),
  ];
}

export function totalCpuMs({ cpuMsPerRequest }: Comparison): number {
  return total(Object.values(cpuMsPerRequest));
}

function verdict(what: string, value: number, limit: number, unit: string): Verdict {
  return { what, value, limit, unit, passed: value <= limit };
}

function failures(counts: readonly Record<string, number>[]): number {
  return total(counts.flatMap((each) => Object.values(each)));
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
