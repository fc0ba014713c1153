import { table } from '../../report/table.ts';
import { metrics, type CellResult, type Metric, type PeerResults } from './peer-results.ts';
import { ratiosOf, type Ratio } from './ratios.ts';
import { digits, summarize } from './summary.ts';

/** The results as a person reads them in a terminal. */
export function reportPeers(results: PeerResults): string {
  const { machine, rounds, minutes, takenByOthers, systems, cells, leftOut } = results;
  return [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; ${rounds} rounds in ${minutes} minutes; other programs took ${(takenByOthers * 100).toFixed(0)} % of the machine`,
    ...systems.map(
      ({ title, version, missing }) => `${title} ${version}${missing === undefined ? '' : `: ${missing}`}`,
    ),
    ...cells.flatMap(cellTable),
    '',
    ...table(['ratio', 'measured', 'aim'], ratiosOf(results).map(ratioRow)),
    ...(leftOut.length === 0 ? [] : ['', `left out: ${leftOut.join('; ')}`]),
    '',
  ].join('\n');
}

function cellTable({ title, sides }: CellResult): string[] {
  return ['', ...table(...cellRows({ title, sides }, cellOf))];
}

/** The head and the rows of a cell's table: its sides, with the metrics that one of them has, and failures. */
export function cellRows(
  { title, sides }: Pick<CellResult, 'title' | 'sides'>,
  write: (values: readonly number[]) => string,
): [head: string[], rows: string[][]] {
  const all = Object.entries(sides);
  const shown = (Object.keys(metrics) as Metric[]).filter((metric) =>
    all.some(([, { values }]) => values[metric] !== undefined),
  );
  const rows = all.map(([side, { values, failures }]) => {
    const counts = Object.entries(failures).map(([reason, count]) => `${count} ${reason}`);
    return [side, ...shown.map((metric) => write(values[metric] ?? [])), counts.join(', ') || '0'];
  });
  return [[title, ...shown.map((metric) => metrics[metric]), 'failures'], rows];
}

/** The median, and the spread where there were several rounds. */
function cellOf(values: readonly number[]): string {
  const summary = summarize(values);
  if (!summary) return '–';
  return values.length === 1
    ? digits(summary.median)
    : `${digits(summary.median)} ±${(summary.spread * 50).toFixed(0)}%`;
}

function ratioRow({ what, value, aim }: Ratio): string[] {
  return [
    what,
    value === undefined ? 'not measured' : value.toFixed(2),
    'atMost' in aim ? `≤ ${aim.atMost}` : `≥ ${aim.atLeast}`,
  ];
}
