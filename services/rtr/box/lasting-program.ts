import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Returns a path of a program that lasts. npm may delete what it keeps for `npx`, so a program that runs from there is copied with all its
 * packages.
 * @param program path of the program's file
 * @param folder where the copy goes
 */
export function makeLasting(program: string, folder: string): string {
  const packages = /^.*\/_npx\/[^/]+/.exec(program)?.[0];
  if (packages === undefined) return program;
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(packages, draft, { recursive: true, verbatimSymlinks: true });
  // A service that runs from the folder finds one at every moment but between two renames.
  const old = `${folder}.old`;
  rmSync(old, { recursive: true, force: true });
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(draft, folder);
  rmSync(old, { recursive: true, force: true });
  return join(folder, relative(packages, program));
}
