import type { PhaseResult } from '../../bench/scale/measure-phase.ts';
import type { ScaleRun, ScaleRunName, ScaleRuns } from '../../bench/scale/scale-results.ts';
import { renderTable } from './render-table.ts';

/** A figure of a phase, as the tables show it. */
interface Column {
  head: string;
  cell: (phase: PhaseResult) => string;
}

const columns: readonly Column[] = [
  { head: 'NATS CPU %', cell: ({ natsCpu }) => natsCpu.toFixed(1) },
  { head: 'ingress CPU %', cell: ({ ingressCpu }) => ingressCpu.toFixed(1) },
  { head: 'worker CPU %', cell: ({ workerCpu }) => workerCpu.toFixed(1) },
  { head: 'messages/s', cell: ({ messages }) => Math.round(messages).toLocaleString('en') },
  { head: 'MB/s', cell: ({ bytes }) => (bytes / 1e6).toFixed(2) },
  { head: 'NATS MiB', cell: ({ natsBytes }) => Math.round(natsBytes / 1024 ** 2).toString() },
  {
    head: 'answer p50 / p99 s',
    cell: ({ probes: { p50, p99 } }) => (Number.isNaN(p50) || p50 === null ? '–' : `${seconds(p50)} / ${seconds(p99)}`),
  },
  { head: 'failed', cell: ({ probes: { failed, sent } }) => `${sumOf(failed)} of ${sent}` },
  { head: 'as before after s', cell: ({ recoveredMs }) => (recoveredMs === undefined ? '–' : seconds(recoveredMs)) },
];

/** When, where and with what each run was measured. */
export function renderScaleRuns(runs: ScaleRuns): string {
  const lines = Object.entries(runs).map(([name, { date, nats, machine, takenByOthers }]) => {
    const { cpu, cores, memoryGib, kernel, node } = machine;
    const where = `${cpu}, ${cores} cores, ${memoryGib} GiB, Linux ${kernel}, Node ${node}, nats-server ${nats}`;
    return [name, date, where, `${Math.round(takenByOthers * 100)} %`];
  });
  return renderTable(['run', 'measured on', 'with', 'taken by other programs'], lines);
}

/** A size of the run before and of the run after, phase by phase: a figure of each, one after the other. */
export function renderBeforeAfter({ before, after }: ScaleRuns, size: string): string {
  const [old, now] = [phasesOf(before, size), phasesOf(after, size)];
  const rows = now.map((phase) => {
    const was = old.find(({ name }) => name === phase.name);
    const cells = columns.map(({ cell }) => (was ? `${cell(was)} → ${cell(phase)}` : cell(phase)));
    return [phase.name, ...cells.map((text) => (text === '– → –' ? '–' : text))];
  });
  return `${renderTable(['phase', ...columns.map(({ head }) => head)], rows)}\n${notesOf(now)}`;
}

/** One run, size by size. */
export function renderScaleRun(runs: ScaleRuns, name: ScaleRunName): string {
  const sizes = runs[name]?.sizes ?? [];
  const tables = sizes.map(({ size, phases }) => {
    const rows = phases.map((phase) => [phase.name, ...columns.map(({ cell }) => cell(phase))]);
    const of = `${size.ingresses} ingress nodes, ${size.workers} workers in ${size.pools} pools, ${size.natsServers} NATS:`;
    return `${of}\n\n${renderTable(['phase', ...columns.map(({ head }) => head)], rows)}\n${notesOf(phases)}`;
  });
  return tables.join('\n');
}

function phasesOf(run: ScaleRun | undefined, name: string): PhaseResult[] {
  return run?.sizes.find(({ size }) => `${size.ingresses}x${size.workers}` === name)?.phases ?? [];
}

function notesOf(phases: readonly PhaseResult[]): string {
  const noted = phases.filter(({ notes }) => notes !== '');
  return noted.map(({ name, notes }) => `- ${name}: ${notes}\n`).join('');
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(ms < 10_000 ? 2 : 1);
}

function sumOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
