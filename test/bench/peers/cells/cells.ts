import type { Cell } from './cell.ts';
import { coldKeys } from './cold-keys.ts';
import { heldStreams } from './held-streams.ts';
import { hungUpstream } from './hung-upstream.ts';
import { loadCell } from './load-cell.ts';
import type { Content } from './request-body.ts';

const several = [1, 32, 256] as const;

/** All cells in the order in which they are measured. Those that start systems of their own come last. */
export const cells: readonly Cell[] = [
  ...several.map((connections) =>
    loadCell({
      name: `whole-${connections}`,
      title: `Whole answers, ${connections} at a time`,
      scenario: 'bench-whole',
      connections,
      accesses: ['unlimited', 'limited key', 'limited key and team', 'limited key and team, concurrency too'],
    }),
  ),
  ...several.map((connections) =>
    loadCell({
      name: `stream-${connections}`,
      title: `Streams, ${connections} at a time; role and first text in one write`,
      scenario: connections === 1 ? 'bench-short' : 'bench-together',
      connections,
    }),
  ),
  ...several.map((connections) =>
    loadCell({
      name: `stream-apart-${connections}`,
      title: `Streams, ${connections} at a time; the role before the first text`,
      scenario: connections === 1 ? 'bench-short-apart' : 'bench-apart',
      connections,
    }),
  ),
  loadCell({ name: 'flood', title: 'A flood: 8 streams as fast as they can', scenario: 'bench-flood', connections: 8 }),
  wholeAlone('image', 'An image of 1 MiB'),
  wholeAlone('conversation', '200 turns and 30 tools'),
  coldKeys,
  ...formatCells(),
  heldStreams,
  hungUpstream,
];

function wholeAlone(content: Content, what: string): Cell {
  const title = `${what}, one request at a time`;
  return loadCell({ name: content, title, scenario: 'bench-whole', connections: 1, content });
}

/** Every pair of formats except chat on both sides, which all other cells have. */
function formatCells(): Cell[] {
  const pairs = [
    ['messages', 'messages'],
    ['messages', 'chat'],
    ['chat', 'messages'],
  ] as const;
  return pairs.flatMap(([client, upstream]) => {
    const between = `between a ${client} client and a ${upstream} upstream, 32 at a time`;
    const [name, common] = [`${client}-${upstream}`, { connections: 32, route: { client, upstream } }];
    return [
      loadCell({ name, title: `Whole answers ${between}`, scenario: 'bench-whole', ...common }),
      loadCell({ name: `${name}-stream`, title: `Streams ${between}`, scenario: 'bench-together', ...common }),
    ];
  });
}
