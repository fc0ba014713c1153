import { parseArgs } from 'node:util';
import type { Releases } from '#shared/core/release.ts';
import { renderCells, renderRatios, renderRun, renderSystems } from '../../docs/tables/render-performance.ts';
import { cells } from './cells/cells.ts';
import { comparePeers } from './compare-peers.ts';
import { fullPeerPlan, quickPeerPlan, type PeerPlan } from './peer-plan.ts';
import { keepResults, keptFile } from './results/peer-results.ts';
import { systems } from './systems/systems.ts';

/**
 * `npm run bench -- --peers`: compares this router with alternatives, in front of the same upstream. `--quick` for a short run, `--cells`
 * and `--systems` for some of them (names separated by commas; a name followed by `*` is a prefix), `--rounds`, `--seconds` and `--minutes`
 * for the duration, `--streams` for the number of held streams, `--json <file>` for the figures, `--update` to keep them for the
 * documentation.
 */
export async function runPeers(args: readonly string[], releases: Releases): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      peers: { type: 'boolean' },
      quick: { type: 'boolean', default: false },
      update: { type: 'boolean', default: false },
      json: { type: 'string' },
      cells: { type: 'string' },
      systems: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      minutes: { type: 'string' },
      streams: { type: 'string' },
    },
  });
  const plan: PeerPlan = { ...(values.quick ? quickPeerPlan : fullPeerPlan) };
  for (const name of ['rounds', 'seconds', 'minutes'] as const) {
    if (values[name] !== undefined) plan[name] = positive(name, values[name]);
  }
  if (values.streams !== undefined) plan.heldStreams = positive('streams', values.streams);
  const chosen = { cells: choose('cell', cells, values.cells), kinds: choose('system', systems, values.systems) };
  const results = await comparePeers({ plan, quick: values.quick, ...chosen }, releases);
  for (const render of [renderRun, renderSystems, renderCells, renderRatios])
    process.stdout.write(`${render(results)}\n`);
  if (values.json !== undefined) keepResults(results, values.json);
  if (values.update) keepResults(results, keptFile);
}

/** Returns the items that a list of names selects; all without a list. */
function choose<Item extends { name: string }>(kind: string, items: readonly Item[], list: string | undefined): Item[] {
  if (list === undefined) return [...items];
  const patterns = list.split(',');
  const selects = (pattern: string, name: string): boolean =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  const unknown = patterns.filter((pattern) => !items.some(({ name }) => selects(pattern, name)));
  const names = items.map(({ name }) => name).join(', ');
  if (unknown.length > 0) refuse(`There is no ${kind} ${unknown.join(', ')}. There are ${names}.`);
  return items.filter(({ name }) => patterns.some((pattern) => selects(pattern, name)));
}

function positive(name: string, text: string): number {
  const value = Number(text);
  return value > 0 ? value : refuse(`--${name} must be a number above 0.`);
}

/** Ends the run before anything was started. */
function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
