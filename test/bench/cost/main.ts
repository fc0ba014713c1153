import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Releases } from '#shared/core/release.ts';
import { releaseEverything } from '../cluster/release-at-end.ts';
import { loadCell } from '../peers/cells/load-cell.ts';
import { comparePeers } from '../peers/compare-peers.ts';
import { fullPeerPlan } from '../peers/peer-plan.ts';
import { systems } from '../peers/systems/systems.ts';
import { table } from '../report/table.ts';
import {
  computeCosts,
  type Costs,
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
const plan = { ...fullPeerPlan, rounds: 5, seconds: 2, warmUpSeconds: 4 };

/** The same code has ratios up to a seventh apart in two sets of processes, so a cost has risen only if it has in each of these. */
const maxSets = 4;

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
 * `npm run bench -- --cost`: measures what a request and a stream cost beside the bare proxy, in 80 seconds, or in up to four times as many
 * while a cost seems to have risen. `--update` keeps costs that are lower than the kept ones.
 * @returns whether no cost has risen
 */
export async function runCost(args: readonly string[], releases: Releases): Promise<boolean> {
  const options = { cost: { type: 'boolean' }, update: { type: 'boolean', default: false } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const [all, maker] = [readKeptCosts(), findMaker()];
  const kept = keptFor(maker, all);
  let costs = await measureCosts(releases);
  for (let sets = 1; sets < maxSets && findRisen(costs, kept).length > 0; sets += 1)
    costs = keepLower(costs, await measureCosts(releases));
  const rows = costNames.map((name) => [name, `${costs[name]}`, `${kept[name]}`, (kept[name] * tolerance).toFixed(2)]);
  process.stdout.write(`${table(['processor time', 'measured', 'kept', 'at most'], rows).join('\n')}\n`);
  const lower = { ...all, [maker]: keepLower(costs, kept) };
  if (values.update) writeFileSync(keptCostsFile, `${JSON.stringify(lower, null, 2)}\n`);
  return findRisen(costs, kept).length === 0;
}

/** Measures the costs with processes that it starts, and ends. */
async function measureCosts(releases: Releases): Promise<Costs> {
  const kinds = systems.filter(({ name }) => name === 'rtr' || name === 'express');
  const own = new Releases();
  releases.add('a set of processes', () => releaseEverything(own));
  const results = await comparePeers({ plan, quick: true, kinds, cells }, own);
  await releaseEverything(own);
  return computeCosts(results);
}
