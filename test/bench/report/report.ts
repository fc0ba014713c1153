import type { Comparison, Side } from '../compare.ts';
import { totalCpuMs, type Verdict } from './judge.ts';
import type { Flatness } from '../measure-flatness.ts';
import type { OpenStreams } from '../measure-open-streams.ts';
import { referenceBareCpuMs } from '../plan.ts';
import type { Results } from './results.ts';
import { table } from './table.ts';

export function report(results: Results, verdicts: readonly Verdict[]): string {
  const { machine, single, busy, streams, flatness, openStreams } = results;
  return [
    `${machine.cores} cores, Node ${machine.node}`,
    ...comparison('Whole answers, 1 at a time', single),
    ...comparison('Whole answers, 32 at a time', busy),
    ...comparison('Streams', streams),
    ...memory(openStreams),
    ...growth(flatness),
    '',
    ...table(['Limits', 'measured', 'at most', ''], verdicts.map(rowOf)),
    '',
    `A request of the bare prototype took ${busy.bareCpuMsPerRequest.toFixed(3)} ms of CPU, ${referenceBareCpuMs} where the limits were set.`,
    ...disturbance(Math.max(...[single, busy, streams].map(({ takenByOthers }) => takenByOthers))),
    '',
  ].join('\n');
}

function rowOf({ what, value, limit, unit, passed }: Verdict): string[] {
  return [what, `${digits(value)} ${unit}`, `${digits(limit)} ${unit}`, passed ? 'PASS' : 'FAIL'];
}

function comparison(title: string, comparison: Comparison): string[] {
  const { direct, bare, through, cpuMsPerRequest: cpu, bareCpuMsPerRequest } = comparison;
  const line = (name: string, read: (side: Side) => number) => [
    name,
    ...[direct, bare, through].map((side) => digits(read(side))),
    digits(read(through) - read(direct)),
  ];
  return [
    '',
    ...table(
      [title, 'direct', 'bare', 'cluster', 'added'],
      [
        line('first byte, p50 ms', ({ firstMs }) => firstMs.p50),
        line('first byte, p99 ms', ({ firstMs }) => firstMs.p99),
        line('total, p50 ms', ({ totalMs }) => totalMs.p50),
        line('total, p99 ms', ({ totalMs }) => totalMs.p99),
        ['requests a second', ...[direct, bare, through].map((side) => digits(side.requestsPerSecond)), ''],
        ['failed requests', ...[direct, bare, through].map((side) => failures(side.failures)), ''],
      ],
    ),
    `CPU ms a request: ingress ${cpu.ingress.toFixed(3)}, NATS ${cpu.nats.toFixed(3)}, worker ${cpu.worker.toFixed(3)}, Redis ${cpu.redis.toFixed(3)}; together ${totalCpuMs(comparison).toFixed(3)}; bare ${bareCpuMsPerRequest.toFixed(3)}`,
  ];
}

function memory({ streams, bytesPerStream, failures: failed }: OpenStreams): string[] {
  const rows = Object.entries(bytesPerStream).map(([part, of]) => [part, kib(of.rss), kib(of.heap), kib(of.external)]);
  const head = [`KiB an open stream, ${streams} open`, 'resident', 'heap', 'outside'];
  return ['', ...table(head, rows), `failed streams: ${failures(failed)}`];
}

function growth({ requests, requestsPerSecond, growth: parts, quarters, failures: failed }: Flatness): string[] {
  const rows = (['ingress', 'nats', 'worker'] as const).map((part) => [
    part,
    ...quarters.map((quarter) => (quarter[part].rss / 1024 ** 2).toFixed(1)),
    digits(parts[part].rss),
    digits(parts[part].held),
  ]);
  const head = [`MiB resident over ${requests} requests`, '25 %', '50 %', '75 %', '100 %', 'bytes a request', 'held'];
  return [
    '',
    ...table(head, rows),
    `${digits(requestsPerSecond)} requests a second; failed requests: ${failures(failed)}`,
  ];
}

/** Shares of the machine below this hardly disturb the numbers. */
const quiet = 0.1;

function disturbance(takenByOthers: number): string[] {
  if (takenByOthers < quiet) return [];
  const share = `${(takenByOthers * 100).toFixed(0)} %`;
  return ['', `Other programs took up to ${share} of this machine meanwhile: on a quiet one, times and CPU are lower.`];
}

function failures(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([reason, count]) => `${count} ${reason}`);
  return parts.length === 0 ? '0' : parts.join(', ');
}

function kib(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}

/** Returns a number with three significant digits. */
function digits(value: number): string {
  return Math.abs(value) >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3);
}
