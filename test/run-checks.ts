import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { dockerAnswers } from './helpers/servers/docker-answers.ts';

/*
 * All checks of the project in one run: format, types, lint, then the tests (the architecture test among them).
 * `npm test` runs the quick tests, `npm run test:long` the long ones, `npm run test:chaos` a cluster under seeded faults,
 * `npm run test:clients` the programs and libraries that people use, each from its registry, `npm run test:compose` the tests of the image and of
 * docker-compose.yml, which need a Docker engine. The last line counts what passed and what failed, each check besides the tests counting
 * as one. The chaos suite takes `--seed`, `--seconds`, `--kinds` and `--lines`;
 * with `--update`, the clients' suite keeps what it saw for the table in docs/api.md.
 */

const fileResult = z.object({
  name: z.string(),
  status: z.string(),
  message: z.string(),
  assertionResults: z.array(
    z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
  ),
});
type FileResult = z.infer<typeof fileResult>;

/** At most so many files of tests are repeated: more failures than that are no bad luck. */
const maxRepeated = 5;

const root = join(import.meta.dirname, '..');
const { seed, seconds, kinds, lines, update } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string' },
    kinds: { type: 'string' },
    lines: { type: 'string' },
    update: { type: 'boolean' },
  },
  allowPositionals: true,
}).values;
if (seed !== undefined) process.env['CHAOS_SEED'] = seed;
if (seconds !== undefined) process.env['CHAOS_SECONDS'] = seconds;
if (kinds !== undefined) process.env['CHAOS_KINDS'] = kinds;
if (lines !== undefined) process.env['CHAOS_LINES'] = lines;
if (update === true) process.env['CLIENTS_UPDATE'] = '1';
const project = ['long', 'chaos', 'clients', 'compose'].find((name) => name === process.argv[2]) ?? 'quick';
if (project === 'compose' && !(await dockerAnswers())) {
  process.stdout.write(
    'Skipped: the image and docker-compose.yml are tried only where a Docker engine answers, and none does.\n',
  );
  process.exit(0);
}

const checks =
  project === 'quick'
    ? [
        ['oxfmt', '--check', '.'],
        ['tsc', '--pretty'],
        ['tsc', '--pretty', '--project', 'services/console/web'],
        ['oxlint', '--type-aware'],
      ]
    : [];
// All at once: each uses one core for most of its time.
const outcomes = await Promise.all(checks.map(check));
let passed = outcomes.filter(Boolean).length;
let failed = outcomes.length - passed;

// Some long tests run two files at a time.
const projects = project === 'long' ? ['long', 'waiting'] : [project];
const first = await runTests([]);
const unlucky = [...first.files.values()].filter(({ status }) => status !== 'passed').map(({ name }) => name);
// A run of an hour with thousands of tests of real processes does not end for one that was unlucky: in CI its file is run once more, with
// processes and data of its own, and named at the end of the run as one to mend. A seed that breaks the cluster is no bad luck.
const isRepeated =
  process.env['CI'] !== undefined && project !== 'chaos' && unlucky.length > 0 && unlucky.length <= maxRepeated;
const last = isRepeated ? await runTests(unlucky) : first;
const results = [...new Map([...first.files, ...last.files]).values()].flatMap((file) => file.assertionResults);
passed += results.filter(({ status }) => status === 'passed').length;
// A test file that cannot even be loaded has no failed test, yet it is a failure.
failed += Math.max(results.filter(({ status }) => status === 'failed').length, last.succeeded ? 0 : 1);

if (isRepeated) {
  for (const { name, message, assertionResults } of first.files.values()) {
    if (last.files.get(name)?.status !== 'passed') continue;
    const failures = assertionResults.flatMap((test) =>
      test.failureMessages.map((text) => `"${test.fullName}": ${text}`),
    );
    const reasons = failures.length > 0 ? failures : [message];
    process.stdout.write(`\nPassed only when repeated: ${relative(root, name)}\n${reasons.join('\n')}\n`);
  }
}
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** Runs a check, shows what it printed once it is over, and returns whether it passed. */
async function check(command: readonly string[]): Promise<boolean> {
  const child = start(command, 'pipe');
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece: Buffer) => output.push(piece));
  const [code] = await once(child, 'close');
  process.stdout.write(`\n> ${command.join(' ')}\n${Buffer.concat(output).toString()}`);
  return code === 0;
}

function start([tool = '', ...args]: readonly string[], output: 'inherit' | 'pipe'): ChildProcess {
  return spawn(join(root, 'node_modules', '.bin', tool), args, {
    cwd: root,
    stdio: ['ignore', output, output],
    // The tools' own start scripts look for `node` on the PATH: they must find the one that runs this file.
    env: { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env['PATH']}` },
  });
}

/** Runs the project's tests, all of them or those of some files. What Vitest does not say of a file is not among the results. */
async function runTests(files: readonly string[]): Promise<{ succeeded: boolean; files: Map<string, FileResult> }> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-checks-'));
  const resultFile = join(folder, 'result.json');
  const named = projects.flatMap((name) => ['--project', name]);
  const reports = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultFile}`];
  const vitest = ['vitest', 'run', ...named, '--passWithNoTests', ...reports, ...files];
  process.stdout.write(`\n> ${vitest.join(' ')}\n`);
  const [exitCode] = await once(start(vitest, 'inherit'), 'exit');
  const results = readResults(resultFile);
  rmSync(folder, { recursive: true });
  return {
    succeeded: exitCode === 0 && results !== undefined,
    files: new Map(results?.map((file) => [file.name, file])),
  };
}

function readResults(path: string): FileResult[] | undefined {
  try {
    return z.object({ testResults: z.array(fileResult) }).parse(JSON.parse(readFileSync(path, 'utf8'))).testResults;
  } catch {
    return undefined;
  }
}
