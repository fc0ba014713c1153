import { join } from 'node:path';
import { programs, programsFolder } from '#services/rtr/build/programs.ts';

/** Returns the path of the built program that begins in a source file, below the project's folder; that of the file if it begins none. */
export function builtFile(file: string): string {
  const [name] = Object.entries(programs).find(([, source]) => source === file) ?? [];
  return name === undefined ? file : join(programsFolder, `${name}.mjs`);
}
