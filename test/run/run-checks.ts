import { parseArgs } from 'node:util';
import { installClis } from '../helpers/clis/install-clis.ts';
import { buildConsole } from '../helpers/console/start-console.ts';
import { browserTestsOf, changedFiles } from './changed-files.ts';
import { type RunResult, runVitest } from './read-run.ts';
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

/** More failed files than that are no bad luck. */
const maxRepeated = 5;

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
  const chosen = await runTests(suite === 'long' ? ['long', 'alone'] : [suite], files, { changed });
  const results = [chosen];
  const browserTests = browserTestsOf(changes ?? []);
  if (suite === 'quick' && browserTests.length > 0) results.push(await runTests(['long', 'alone'], browserTests));
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

/**
 * Runs the tests of some projects of Vitest. In CI, files with a failure run once more, with processes and data of their own, and are named
 * as ones to mend: a landing does not end for one that was unlucky. A seed that breaks the cluster is no bad luck.
 * @param files words that choose files; none for all
 */
async function runTests(project: string[], files: readonly string[], options = {}): Promise<RunResult> {
  const first = await runVitest(project, files, options);
  const { failedFiles, hasStrayError } = first;
  const mayRepeat = process.env['CI'] !== undefined && suite !== 'chaos' && !hasStrayError;
  if (!mayRepeat || failedFiles.length === 0 || failedFiles.length > maxRepeated) return first;
  const again = failedFiles.map(({ file }) => file);
  const second = await runVitest(project, again);
  const stillFailed = new Set(second.failedFiles.map(({ file }) => file));
  for (const { file, reasons } of failedFiles) {
    if (!stillFailed.has(file)) process.stdout.write(`\nPassed only when repeated: ${file}\n${reasons.join('\n')}\n`);
  }
  return { ...first, passed: first.passed + first.failed - second.failed, failed: second.failed };
}
