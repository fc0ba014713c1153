import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The last commit before releases had tags. */
const untaggedRelease = 'efbb30f4c';

/** The release before this one, with which this one shares a cluster during an upgrade: the newest tag of an earlier commit. */
export const previousRelease = findPreviousTag() ?? untaggedRelease;

function findPreviousTag(): string | undefined {
  const { status, stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD~1'], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Whether the repository has the commit; a shallow clone may lack it. */
export function hasCommit(commit: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { stdio: 'ignore' }).status === 0;
}

/**
 * Builds the programs of a commit in a folder of its own, with this project's packages. Later calls find them built.
 * @returns the folder, in which `dist` contains the programs
 */
export function buildRelease(commit: string): string {
  const folder = resolve('.rtr/releases', commit);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    const sources = execFileSync(
      'git',
      ['archive', commit, 'services', 'shared', 'deploy', 'package.json', 'package-lock.json'],
      {
        maxBuffer: 1024 ** 3,
      },
    );
    execFileSync('tar', ['-x', '-C', draft], { input: sources });
    symlinkSync(resolve('node_modules'), join(draft, 'node_modules'));
    const module = join(draft, 'services/rtr/build/build-programs.ts');
    const code = `(await import(${JSON.stringify(module)})).buildPrograms(${JSON.stringify(draft)})`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: draft, stdio: 'pipe' });
    renameSync(draft, folder);
    return folder;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
