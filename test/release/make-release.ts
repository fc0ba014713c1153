import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { version } from '#shared/core/version.ts';
import { chartTools } from '../helpers/deploy/chart-tools.ts';
import { dockerAnswers } from '../helpers/servers/docker-answers.ts';
import { readChangelog } from './changelog.ts';
import { findFaults } from './find-faults.ts';
import { releaseChart } from './release-chart.ts';
import { releaseCompose } from './release-compose.ts';
import { releaseImages } from './release-image.ts';
import { buildPackage, tryPackage } from './release-package.ts';
import { runTool } from './run-tool.ts';

/*
 * `npm run release`: builds everything that a release has into `release/`, and starts each artefact from an empty state. It fails at the
 * first fault, and leaves no `SHA256SUMS` then. With `--partial`, a machine without Docker or helm makes the rest; what is left out is
 * printed at the end, and such a folder is no release.
 */

const { values } = parseArgs({ options: { partial: { type: 'boolean', default: false } } });
const folder = resolve('release');
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const lines = (text: string): string[] => text.split('\n').filter(Boolean);

const changelog = readChangelog();
const faults = findFaults({
  version,
  changed: lines(await runTool('git', ['status', '--porcelain'])),
  changelog,
  tagsHere: lines(await runTool('git', ['tag', '--points-at', 'HEAD'])),
  tags: lines(await runTool('git', ['tag', '--list'])),
});
if (faults.length > 0) {
  say(faults.join('\n'));
  process.exit(1);
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const notes: string[] = [];
/** Runs a step, and prints how long it took. */
const step = async (name: string, run: () => Promise<unknown>): Promise<void> => {
  const begun = performance.now();
  const result = await run();
  if (Array.isArray(result)) notes.push(...(result as string[]));
  say(`${name}: done in ${Math.round((performance.now() - begun) / 1000)} s`);
};
/** Runs a step, unless this machine lacks its tool and the release may be partial. */
const stepWith = async (tool: string, isThere: boolean, name: string, run: () => Promise<unknown>): Promise<void> => {
  if (isThere) return step(name, run);
  if (!values.partial) throw new Error(`${name}: this machine has no ${tool}`);
  notes.push(`Left out: ${name}. This machine has no ${tool}.`);
};

let packed = '';
await step('package', async () => {
  packed = await buildPackage(folder, version);
});
await step('router of the package, in an empty home folder', () => tryPackage(packed));
await stepWith('helm', chartTools !== undefined, 'chart, rendered and checked', () => releaseChart(folder, version));
await step('Compose file', () => releaseCompose(folder, version));
await stepWith('Docker engine', await dockerAnswers(), 'images, started', () => releaseImages(folder, version));

writeFileSync(join(folder, 'NOTES.md'), `${changelog[1]?.text ?? ''}\n`);
const sums = readdirSync(folder)
  .toSorted()
  .map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex')}  ${name}\n`,
  );
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
say(`\nrelease/ has version ${version}:\n${sums.join('')}`);
if (notes.length > 0) say(notes.join('\n'));
