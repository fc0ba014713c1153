import { parseArgs } from 'node:util';
import { installClis } from '../helpers/clis/install-clis.ts';
import { buildConsole } from '../helpers/console/start-console.ts';
import { browserTestsOf, changedFiles } from './changed-files.ts';
import { runVitest } from './read-run.ts';
import { slowestTable, sum } from './slowest-table.ts';
import { runStaticChecks } from './static-checks.ts';
import { readTimes, writeTimes } from './times.ts';

/*
 * All checks of the project: format, types and lint, then a suite of tests, which is the first word of the command line: `long`, `clients`,
 * `compose`, `containers` or `chaos`. Without one: the quick tests. Further words select test files. The last line counts passes and
 * failures; each check besides the tests counts as one.
 *
 * `--changed` runs only the tests that import uncommitted changes; `--slowest` prints the times of the suite's last run. The chaos suite
 * takes `--seed`, `--seconds`, `--kinds` and `--lines`; with `--update`, the clients' suite keeps its results for the table in docs/api.md.
 */

const suites = ['long', 'clients', 'compose', 'containers', 'chaos'];

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
if (slowest) {
  const times = readTimes(suite);
  process.stdout.write(times ? `${slowestTable(times)}\n` : 'There are no times yet: run the whole suite first.\n');
} else await runSuite(suite === first ? positionals.slice(1) : positionals);

async function runSuite(files: readonly string[]): Promise<void> {
  const changes = changed ? await changedFiles() : undefined;
  const checking = suite === 'quick' ? runStaticChecks(changes) : [];
  // Not in the middle of the tests, which run side by side.
  if (suite === 'long') await Promise.all([installClis(), buildConsole()]);
  const chosen = await runVitest(suite === 'long' ? ['long', 'alone'] : [suite], files, { changed });
  const results = [chosen];
  const browserTests = browserTestsOf(changes ?? []);
  if (suite === 'quick' && browserTests.length > 0) results.push(await runVitest(['long', 'alone'], browserTests));
  if (files.length === 0 && !changed) writeTimes(suite, chosen.times);

  const checks = await checking;
  for (const { output } of checks) process.stdout.write(output);
  const passed = sum(results.map((result) => result.passed)) + checks.filter(({ isPassed }) => isPassed).length;
  const failed = sum(results.map((result) => result.failed)) + checks.filter(({ isPassed }) => !isPassed).length;
  const missing = results.flatMap(({ notRun }) => notRun);
  if (missing.length > 0) {
    const named = missing.map(({ need, how, tests }) => `${tests} for ${need} (${how})`);
    process.stdout.write(`\nTests that were not run here: ${named.join(', ')}\n`);
  }
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
