import { sideName } from '../cells/cell.ts';
import type { Metric, PeerResults } from './peer-results.ts';
import { medianOf } from './summary.ts';

export interface Ratio {
  what: string;
  /** Undefined when one of the two was not measured. */
  value: number | undefined;
  aim: { atMost: number } | { atLeast: number };
}

interface RatioRule {
  what: string;
  cell: string;
  metric: Metric;
  /** Default: this router, with a key without limits. */
  side?: string;
  /** Absent for a figure that is not compared. */
  against?: { side: string; cell?: string };
  aim: Ratio['aim'];
}

const express = { side: 'express' };
const limitedKeys = ['limited key', 'limited key and team', 'limited key and team, concurrency too'] as const;

const rules: readonly RatioRule[] = [
  ...([32, 256] as const).flatMap((connections) => {
    const rule = { cell: `whole-${connections}`, metric: 'cpu' } as const;
    const what = `CPU, ${connections} at a time`;
    return [
      { ...rule, what: `${what}, ÷ bare proxy`, against: express, aim: { atMost: 2 } },
      { ...rule, what: `${what}, ÷ smg`, against: { side: 'smg' }, aim: { atMost: 1.4 } },
    ];
  }),
  { what: 'CPU, one at a time, ÷ bare proxy', cell: 'whole-1', metric: 'cpu', against: express, aim: { atMost: 4 } },
  ...limitedKeys.map((access) => ({
    what: `CPU, ${access}, ÷ without limits`,
    cell: 'whole-32',
    metric: 'cpu' as const,
    side: sideName('rtr', access),
    against: { side: 'rtr' },
    aim: { atMost: 1.1 },
  })),
  {
    what: 'CPU, messages client of a chat upstream, ÷ chat client',
    cell: 'messages-chat',
    metric: 'cpu',
    against: { side: 'rtr', cell: 'whole-32' },
    aim: { atMost: 1.15 },
  },
  { what: 'CPU, 256 streams, ÷ bare proxy', cell: 'stream-256', metric: 'cpu', against: express, aim: { atMost: 1.8 } },
  {
    what: "first text after the upstream's, 256 streams, p50, ÷ bare proxy",
    cell: 'stream-256',
    metric: 'textP50',
    against: express,
    aim: { atMost: 2 },
  },
  { what: 'the same, p99', cell: 'stream-256', metric: 'textP99', against: express, aim: { atMost: 3 } },
  {
    what: 'chunks a second in a flood, ÷ bare proxy',
    cell: 'flood',
    metric: 'chunksPerSecond',
    against: express,
    aim: { atLeast: 1 },
  },
  { what: 'CPU, 1 MiB image, ÷ bare proxy', cell: 'image', metric: 'cpu', against: express, aim: { atMost: 4 } },
  {
    what: 'CPU, 200 turns and 30 tools, ÷ bare proxy',
    cell: 'conversation',
    metric: 'cpu',
    against: express,
    aim: { atMost: 4 },
  },
  { what: 'memory of a waiting stream, KiB', cell: 'held-streams', metric: 'kibPerStream', aim: { atMost: 36 } },
];

/** Compares this router with its peers, as ratios of medians of one run. */
export function ratiosOf(results: PeerResults): Ratio[] {
  return rules.map(({ what, cell, metric, side = 'rtr', against, aim }) => {
    const own = medianOf(results, cell, side, metric);
    const other = against === undefined ? 1 : medianOf(results, against.cell ?? cell, against.side, metric);
    return { what, value: own === undefined || other === undefined ? undefined : own / other, aim };
  });
}
