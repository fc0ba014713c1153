import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Releases } from '#shared/core/release.ts';
import { loadCell } from '../peers/cells/load-cell.ts';
import { comparePeers } from '../peers/compare-peers.ts';
import { fullPeerPlan } from '../peers/peer-plan.ts';
import { systems } from '../peers/systems/systems.ts';
import { table } from '../report/table.ts';
import {
  computeCosts,
  costNames,
  findMaker,
  findRisen,
  keepLower,
  keptCostsFile,
  keptFor,
  readKeptCosts,
  tolerance,
} from './costs.ts';

/** The warm-up is long enough for V8 to have compiled what runs often. */
const plan = { ...fullPeerPlan, rounds: 8, seconds: 2, warmUpSeconds: 4 };

const cells = [
  loadCell({
    name: 'request',
    title: 'Whole answers, 32 at a time',
    scenario: 'bench-whole',
    connections: 32,
    accesses: ['unlimited', 'limited key and team, concurrency too'],
  }),
  loadCell({ name: 'stream', title: 'Streams, 256 at a time', scenario: 'bench-together', connections: 256 }),
];

/**
 * `npm run bench -- --cost`: measures what a request and a stream cost beside the bare proxy, in two minutes. `--update` keeps costs
 * that are lower than the kept ones.
 * @returns whether no cost has risen
 */
export async function runCost(args: readonly string[], releases: Releases): Promise<boolean> {
  const options = { cost: { type: 'boolean' }, update: { type: 'boolean', default: false } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const kinds = systems.filter(({ name }) => name === 'rtr' || name === 'express');
  const costs = computeCosts(await comparePeers({ plan, quick: true, kinds, cells }, releases));
  const [all, maker] = [readKeptCosts(), findMaker()];
  const kept = keptFor(maker, all);
  const rows = costNames.map((name) => [name, `${costs[name]}`, `${kept[name]}`, (kept[name] * tolerance).toFixed(2)]);
  process.stdout.write(`${table(['processor time', 'measured', 'kept', 'at most'], rows).join('\n')}\n`);
  const lower = { ...all, [maker]: keepLower(costs, kept) };
  if (values.update) writeFileSync(keptCostsFile, `${JSON.stringify(lower, null, 2)}\n`);
  return findRisen(costs, kept).length === 0;
}
