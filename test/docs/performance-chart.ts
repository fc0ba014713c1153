import type { Metric, PeerResults, SystemResult } from '../bench/peers/results/peer-results.ts';
import { digits, medianOf } from '../bench/peers/results/summary.ts';

/** Where the chart is, from the root of the project. */
export const chartFile = 'docs/performance.svg';

/** One group of bars: a metric of a cell, of every system. */
interface Panel {
  title: string;
  note: string;
  cell: string;
  metric: Metric;
}

const panels: readonly Panel[] = [
  {
    title: 'First text after the upstream’s, ms',
    note: '256 streams, p50; less is better',
    cell: 'stream-256',
    metric: 'textP50',
  },
  { title: 'CPU of a request, ms', note: '32 at a time; less is better', cell: 'whole-32', metric: 'cpu' },
  { title: 'Requests a second', note: '32 at a time; more is better', cell: 'whole-32', metric: 'requestsPerSecond' },
  { title: 'Memory of a waiting stream, KiB', note: 'less is better', cell: 'held-streams', metric: 'kibPerStream' },
];

const size = { panel: 430, label: 130, bar: 210, row: 22, head: 46, gap: 20 };
/** A bar that is longer than the router's by more than this factor is cut, so that the others can be compared. */
const cutFrom = 4;

/** The chart of the README and of `docs/performance.md`: bars in SVG, readable on a light and on a dark page. */
export function performanceChart(results: PeerResults): string {
  const systems = results.systems.filter(({ name, missing }) => name !== 'direct' && missing === undefined);
  const height = size.head + systems.length * size.row + size.gap;
  const drawn = panels.map((panel, at) => {
    const [x, y] = [(at % 2) * size.panel, Math.floor(at / 2) * height];
    return `<g transform="translate(${x} ${y})">\n${drawPanel(results, systems, panel)}</g>`;
  });
  const [width, total] = [size.panel * 2, height * Math.ceil(panels.length / 2)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}" role="img">`,
    `<title>Model Router beside other proxies, measured on ${results.date}</title>`,
    '<style>',
    'text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600 } .note { font-size: 11px; fill: #57606a }',
    '.bar { fill: #8c959f } .own { fill: #0969da }',
    '@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .note { fill: #9198a1 } .bar { fill: #656c76 } .own { fill: #4493f8 } }',
    '</style>',
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function drawPanel(results: PeerResults, systems: readonly SystemResult[], panel: Panel): string {
  const { title, note, cell, metric } = panel;
  const values = systems.map(({ name }) => medianOf(results, cell, name, metric));
  const longest = Math.max(0, ...values.flatMap((value) => value ?? []));
  const own = medianOf(results, cell, 'rtr', metric) ?? longest;
  const full = Math.min(longest, own * cutFrom);
  const bars = systems.map(({ name, title: system }, at) => {
    const value = values[at];
    const y = size.head + at * size.row;
    const width = value === undefined || full === 0 ? 0 : Math.max(1, (Math.min(value, full) / full) * size.bar);
    const label = value === undefined ? 'not measured' : `${digits(value)}${value > full ? ' (cut)' : ''}`;
    return [
      `<text x="${size.label - 8}" y="${y + 13}" text-anchor="end">${system}</text>`,
      `<rect class="${name === 'rtr' ? 'own' : 'bar'}" x="${size.label}" y="${y}" width="${width.toFixed(1)}" height="16" rx="2"/>`,
      `<text x="${(size.label + width + 6).toFixed(1)}" y="${y + 13}">${label}</text>`,
      '',
    ].join('\n');
  });
  return `<text class="title" x="0" y="16">${title}</text>\n<text class="note" x="0" y="32">${note}</text>\n${bars.join('')}`;
}
