import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Checks of everything: the linter also reports the compiler's errors, so that the project's types are computed once. */
const all = [
  ['oxfmt', '--check', '.'],
  ['oxlint', '--type-aware', '--type-check'],
];

/** Returns the command of the compiler, which keeps its results for the next time. */
function incrementalTypes(name: string, ...args: readonly string[]): readonly string[] {
  return ['tsc', '--pretty', '--incremental', '--tsBuildInfoFile', join(root, '.rtr', `${name}.tsbuildinfo`), ...args];
}

/**
 * Checks format, types and lint.
 * @param changed files for format and lint; undefined for all
 * @returns for each check whether it passed, and its output
 */
export async function runStaticChecks(
  changed: readonly string[] | undefined,
): Promise<{ isPassed: boolean; output: string }[]> {
  if (!changed) return Promise.all(all.map(check));
  const files = changed.filter((file) => /\.(?:[cm]?[jt]s|tsx)$/.test(file));
  const these = [
    incrementalTypes('types'),
    incrementalTypes('web-types', '--project', 'services/console/web'),
    ...(files.length > 0
      ? [
          ['oxfmt', '--check', ...files],
          ['oxlint', ...files],
        ]
      : []),
  ];
  return Promise.all(these.map(check));
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
