import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

const checks = [
  ['oxfmt', '--check', '.'],
  ['tsc', '--pretty'],
  ['tsc', '--pretty', '--project', 'services/console/web'],
  ['oxlint', '--type-aware'],
];

/** Checks format, types and lint, and shows what each check printed once it is over. @returns for each whether it passed */
export async function runStaticChecks(): Promise<boolean[]> {
  // All at once: each uses one core for most of its time.
  return Promise.all(checks.map(check));
}

async function check([tool = '', ...args]: readonly string[]): Promise<boolean> {
  const child = spawn(join(root, 'node_modules', '.bin', tool), args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The tools' own start scripts look for `node` on the PATH: they must find the one that runs this file.
    env: { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env['PATH']}` },
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => output.push(piece));
  const [code] = await once(child, 'close');
  process.stdout.write(`\n> ${[tool, ...args].join(' ')}\n${Buffer.concat(output).toString()}`);
  return code === 0;
}
