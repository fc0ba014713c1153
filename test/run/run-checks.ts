import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { installClis } from '../helpers/clis/install-clis.ts';
import { buildConsole } from '../helpers/console/start-console.ts';
import { readRun } from './read-run.ts';
import { slowestTable } from './slowest-table.ts';
import { runStaticChecks } from './static-checks.ts';
import { readTimes, writeTimes } from './times.ts';

/*
 * All checks of the project: format, types and lint, then a suite of tests, which is the first word of the command line: `long`, `clients`,
 * `compose` or `chaos`. Without one: the quick tests. Further words choose test files. The last line counts what passed and what failed,
 * each check besides the tests counting as one.
 *
 * `--changed` runs the tests alone that can see what is not committed yet, by their imports; `--slowest` prints the times of the suite's
 * last run. The chaos suite takes `--seed`, `--seconds`, `--kinds` and `--lines`; with `--update`, the clients' suite keeps what it saw for
 * the table in docs/api.md.
 */

const suites = ['long', 'clients', 'compose', 'chaos'];

const { values, positionals } = parseArgs({
  options: {
    changed: { type: 'boolean' },
    slowest: { type: 'boolean' },
    seed: { type: 'string' },
    seconds: { type: 'string' },
    kinds: { type: 'string' },
    lines: { type: 'string' },
    update: { type: 'boolean' },
  },
  allowPositionals: true,
});
const { changed = false, slowest = false, update = false, ...chaos } = values;
for (const [name, value] of Object.entries(chaos)) process.env[`CHAOS_${name.toUpperCase()}`] = value;
if (update) process.env['CLIENTS_UPDATE'] = '1';

const [first = ''] = positionals;
const suite = suites.includes(first) ? first : 'quick';
if (slowest) process.stdout.write(`${slowestTable(readTimes(suite))}\n`);
else await runSuite(suite === first ? positionals.slice(1) : positionals);

async function runSuite(files: readonly string[]): Promise<void> {
  const checking = suite === 'quick' ? runStaticChecks(changed) : [];
  // Not in the middle of the tests, which run side by side.
  if (suite === 'long') await Promise.all([installClis(), buildConsole()]);
  const project = suite === 'long' ? ['long', 'alone'] : [suite];
  const vitest = await startVitest('test', [...files], { run: true, project, passWithNoTests: true, changed });
  const { passed, failed, notRun, times } = await readRun(vitest);
  await vitest.close();
  if (files.length === 0 && !changed) writeTimes(suite, times);

  const checks = await checking;
  for (const { output } of checks) process.stdout.write(output);
  const allPassed = passed + checks.filter(({ isPassed }) => isPassed).length;
  const allFailed = failed + checks.filter(({ isPassed }) => !isPassed).length;
  const missing = notRun.map(({ need, how, tests }) => `${tests} for ${need} (${how})`);
  if (missing.length > 0) process.stdout.write(`\nTests that were not run here: ${missing.join(', ')}\n`);
  process.stdout.write(`\n${allPassed} passed, ${allFailed} failed\n`);
  process.exitCode = allFailed === 0 ? 0 : 1;
}
