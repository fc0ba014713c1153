import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');

/** Of everything: the linter reports what the compiler would, too, so that the project's types are worked out once. */
const all = [
  ['oxfmt', '--check', '.'],
  ['oxlint', '--type-aware', '--type-check'],
];

/** The compiler, which keeps what it has found out for the next time. */
function incrementalTypes(name: string, ...args: readonly string[]): readonly string[] {
  return ['tsc', '--pretty', '--incremental', '--tsBuildInfoFile', join(root, '.rtr', `${name}.tsbuildinfo`), ...args];
}

/**
 * Checks format, types and lint.
 * @param changed whether format and lint of the files alone are checked that are not committed yet
 * @returns for each check whether it passed, and what it printed
 */
export async function runStaticChecks(changed: boolean): Promise<{ isPassed: boolean; output: string }[]> {
  const files = changed ? await uncommittedFiles() : [];
  const these = [
    incrementalTypes('types'),
    incrementalTypes('web-types', '--project', 'services/console/web'),
    ['oxfmt', '--check', '--no-error-on-unmatched-pattern', ...files],
    ['oxlint', ...files],
  ];
  // All at once: each uses one core for most of its time.
  return Promise.all((changed ? these : all).map(check));
}

async function uncommittedFiles(): Promise<string[]> {
  const git = promisify(execFile);
  const lists = await Promise.all([
    git('git', ['diff', '--name-only', '--diff-filter=d', 'HEAD'], { cwd: root }),
    git('git', ['ls-files', '--others', '--exclude-standard'], { cwd: root }),
  ]);
  return lists.flatMap(({ stdout }) => stdout.split('\n')).filter((file) => /\.(?:[cm]?[jt]s|tsx)$/.test(file));
}

async function check([tool = '', ...args]: readonly string[]): Promise<{ isPassed: boolean; output: string }> {
  const child = spawn(join(root, 'node_modules', '.bin', tool), args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The tools' own start scripts look for `node` on the PATH: they must find the one that runs this file.
    env: { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env['PATH']}` },
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => output.push(piece));
  const [code] = await once(child, 'close');
  return { isPassed: code === 0, output: `\n> ${[tool, ...args].join(' ')}\n${Buffer.concat(output).toString()}` };
}
