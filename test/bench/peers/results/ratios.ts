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
  side: string;
  /** Absent for a figure that is not compared. */
  against?: string;
  aim: Ratio['aim'];
  /** Whether the time of the upstream itself is subtracted from both. */
  added?: boolean;
}

const limited = 'rtr, limited key and team';
const limitedRate = 'requests a second, 256 at a time, key and team with limits, ÷ Portkey';

const rules: readonly RatioRule[] = [
  ...(['stream-1', 'stream-256'] as const).flatMap((cell) => {
    const streams = cell === 'stream-1' ? 'one stream' : '256 streams';
    const rule = { cell, side: 'rtr', against: 'express', aim: { atMost: 3 } } as const;
    return [
      { ...rule, what: `first text after the upstream's, ${streams}, p50, ÷ bare proxy`, metric: 'textP50' },
      { ...rule, what: `the same, p99`, metric: 'textP99' },
    ] as const;
  }),
  rule('CPU, 32 at a time, ÷ Portkey', 'whole-32', 'cpu', 'portkey', { atMost: 0.33 }),
  rule('CPU, 32 at a time, ÷ bare proxy', 'whole-32', 'cpu', 'express', { atMost: 2 }),
  { ...rule('CPU, key and team with limits, ÷ without', 'whole-32', 'cpu', 'rtr', { atMost: 1.15 }), side: limited },
  { ...rule(limitedRate, 'whole-256', 'requestsPerSecond', 'portkey', { atLeast: 3 }), side: limited },
  rule('CPU, one at a time, ÷ Portkey', 'whole-1', 'cpu', 'portkey', { atMost: 0.7 }),
  rule('time, one at a time, p50, ÷ Portkey', 'whole-1', 'p50', 'portkey', { atMost: 0.8 }),
  { ...rule('time added by 1 MiB image, p50, ÷ bare proxy', 'image', 'p50', 'express', { atMost: 3 }), added: true },
  rule('CPU, 1 MiB image, ÷ bare proxy', 'image', 'cpu', 'express', { atMost: 3 }),
  rule('CPU, 200 turns and 30 tools, ÷ bare proxy', 'conversation', 'cpu', 'express', { atMost: 4 }),
  rule('chunks a second in a flood, ÷ bare proxy', 'flood', 'chunksPerSecond', 'express', { atLeast: 1 }),
  {
    what: 'memory of a waiting stream, KiB',
    cell: 'held-streams',
    metric: 'kibPerStream',
    side: 'rtr',
    aim: { atMost: 40 },
  },
];

/** Compares this router with its peers, as ratios of medians of one run. */
export function ratiosOf(results: PeerResults): Ratio[] {
  return rules.map(({ what, cell, metric, side, against, aim, added = false }) => {
    const of = (name: string): number | undefined => medianOf(results, cell, name, metric);
    const [own, other, base] = [of(side), against === undefined ? 1 : of(against), of('direct')];
    if (own === undefined || other === undefined) return { what, value: undefined, aim };
    const away = added ? (base ?? Number.NaN) : 0;
    return { what, value: (own - away) / (other - away), aim };
  });
}

function rule(what: string, cell: string, metric: Metric, against: string, aim: Ratio['aim']): RatioRule {
  return { what, cell, metric, against, aim, side: 'rtr' };
}
