import { metrics, type CellResult, type Metric, type PeerResults } from '../../bench/peers/results/peer-results.ts';
import { ratiosOf } from '../../bench/peers/results/ratios.ts';
import { digits, medianOf, summarize } from '../../bench/peers/results/summary.ts';
import { notCompared } from '../../bench/peers/systems/systems.ts';
import { renderTable } from './render-table.ts';

/** A line of the short table: one metric of one cell. */
interface ShortRow {
  what: string;
  cell: string;
  metric: Metric;
  /** Whether what a client measures without a system is taken away. */
  added?: boolean;
}

const shortRows: readonly ShortRow[] = [
  { what: 'requests a second, 32 at a time', cell: 'whole-32', metric: 'requestsPerSecond' },
  { what: 'CPU of a request, 32 at a time, ms', cell: 'whole-32', metric: 'cpu' },
  { what: 'one request at a time, p50, ms', cell: 'whole-1', metric: 'p50' },
  { what: "first text after the upstream's, one stream, p50, ms", cell: 'stream-1', metric: 'textP50' },
  { what: "first text after the upstream's, 256 streams, p50, ms", cell: 'stream-256', metric: 'textP50' },
  { what: 'the same, p99, ms', cell: 'stream-256', metric: 'textP99' },
  { what: 'chunks a second in a flood', cell: 'flood', metric: 'chunksPerSecond' },
  { what: 'added to an image of 1 MiB, p50, ms', cell: 'image', metric: 'p50', added: true },
  { what: 'memory of a waiting stream, KiB', cell: 'held-streams', metric: 'kibPerStream' },
];

/** The few lines of the README: a column for each system. */
export function renderShortPerformance(results: PeerResults): string {
  const shown = results.systems.filter(({ name }) => name !== 'direct');
  const rows = shortRows.map(({ what, cell, metric, added = false }) => [
    what,
    ...shown.map(({ name }) => {
      const value = medianOf(results, cell, name, metric);
      const base = added ? medianOf(results, cell, 'direct', metric) : 0;
      return value === undefined || base === undefined ? '–' : digits(value - base);
    }),
  ]);
  return `${renderTable(['median', ...shown.map(({ title }) => title)], rows)}\n${renderRun(results)}`;
}

/** When and where the figures were measured. */
export function renderRun({ date, machine, rounds, quick, takenByOthers }: PeerResults): string {
  const { cpu, cores, memoryGib, kernel, node } = machine;
  const where = `${cpu}, ${cores} cores, ${memoryGib} GiB, Linux ${kernel}, Node ${node}`;
  const how = quick
    ? `A short run (\`--quick\`) of ${rounds} round beside other work, which took ${percent(takenByOthers)} of the machine: **the figures are rough**.`
    : `Medians of ${rounds} rounds. Other programs took ${percent(takenByOthers)} of the machine.`;
  return `Measured on ${date}: ${where}. ${how}\n`;
}

/** How this router stands beside its peers, and what it aims at. The figures of a short run are too rough to be judged. */
export function renderRatios(results: PeerResults): string {
  const rows = ratiosOf(results).map(({ what, value, aim }) => {
    const met = value !== undefined && ('atMost' in aim ? value <= aim.atMost : value >= aim.atLeast);
    const shown = value === undefined ? 'not measured' : value.toFixed(2);
    const verdict = results.quick || value === undefined ? 'not judged' : met ? 'yes' : 'no';
    return [what, shown, 'atMost' in aim ? `at most ${aim.atMost}` : `at least ${aim.atLeast}`, verdict];
  });
  return renderTable(['ratio of medians, or figure', 'measured', 'aim', 'met'], rows);
}

/** Every system, and how it was run or why it was not. */
export function renderSystems({ systems }: PeerResults): string {
  const rows = systems.map(({ title, version, settings, missing }) => {
    const how = missing === undefined ? settings : `could not be had: ${missing}`;
    return [title, version || '–', how];
  });
  const others = notCompared.map(({ title, why }) => [title, '–', `not compared: ${why}`]);
  return renderTable(['system', 'version', 'run with'], [...rows, ...others]);
}

/** Every cell with all its sides: medians, and half the distance between the lowest and the highest round. */
export function renderCells({ cells, leftOut }: PeerResults): string {
  const missing = leftOut.length === 0 ? '' : `\nLeft out: ${leftOut.join('; ')}.\n`;
  return `${cells.map(renderCell).join('\n')}${missing}`;
}

function renderCell({ title, sides }: CellResult): string {
  const all = Object.entries(sides);
  const isShown = (metric: Metric) => all.some(([, { values }]) => values[metric] !== undefined);
  const shown = (Object.keys(metrics) as Metric[]).filter(isShown);
  const rows = all.map(([side, { values, failures }]) => {
    const counts = Object.entries(failures).map(([reason, count]) => `${count} ${reason}`);
    return [side, ...shown.map((metric) => withSpread(values[metric] ?? [])), counts.join(', ') || '0'];
  });
  return `**${title}**\n\n${renderTable(['side', ...shown.map((metric) => metrics[metric]), 'failures'], rows)}`;
}

function withSpread(values: readonly number[]): string {
  const summary = summarize(values);
  if (!summary) return '–';
  return values.length === 1 ? digits(summary.median) : `${digits(summary.median)} ±${percent(summary.spread / 2)}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
