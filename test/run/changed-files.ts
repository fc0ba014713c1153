import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** Returns the files with uncommitted changes, by their path in the project. */
export async function changedFiles(): Promise<string[]> {
  const lists = await Promise.all([
    run('git', ['diff', '--name-only', '--diff-filter=d', 'HEAD'], { cwd: root }),
    run('git', ['ls-files', '--others', '--exclude-standard'], { cwd: root }),
  ]);
  return lists.flatMap(({ stdout }) => stdout.split('\n')).filter((file) => file !== '');
}

/**
 * Returns the browser tests of changed pages of the console, which imports do not reveal: tests with the name of the page, or of its
 * folder, in their own, as `many-requests.test.ts` has that of `pages/requests/log-page.tsx`.
 */
export function browserTestsOf(files: readonly string[]): string[] {
  const pages = new Set(
    files.flatMap((file) => /^services\/console\/web\/pages\/(?:admin\/)?([\w-]+)/.exec(file)?.[1] ?? []),
  );
  return globSync('test/long/console/*.test.ts', { cwd: root }).filter((test) => {
    const words = basename(test, '.test.ts').split('-');
    return [...pages].some((page) => page.split('-').every((word) => words.includes(word)));
  });
}
