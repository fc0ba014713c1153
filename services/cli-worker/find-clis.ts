import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from '#shared/core/load-config.ts';
import { hasKey, logins, type KnownCliKind } from './clis/logins.ts';

export interface FoundCli {
  kind: KnownCliKind;
  /** Path of the CLI's program. */
  program: string;
  /** Whether a key is set or a login exists. An expired login counts. */
  signedIn: boolean;
  /** Instruction for a user who is not signed in. */
  hint: string;
  /** Models that every version accepts; empty if they depend on the account. */
  models: string[];
}

const knownModels: Readonly<Record<KnownCliKind, string[]>> = {
  claude: ['sonnet', 'opus', 'haiku'],
  codex: [],
  gemini: ['gemini-2.5-pro', 'gemini-2.5-flash'],
  opencode: [],
};

/**
 * Finds the command-line agents with built-in support on the PATH. Reads files and variables and starts no program, so it takes a few
 * milliseconds.
 */
export async function findClis(environment: Environment): Promise<FoundCli[]> {
  const kinds = Object.keys(logins) as KnownCliKind[];
  const clis = await Promise.all(kinds.map((kind) => findCli(kind, environment)));
  return clis.filter((cli) => cli !== undefined);
}

async function findCli(kind: KnownCliKind, environment: Environment): Promise<FoundCli | undefined> {
  const program = await findProgram(kind, environment['PATH'] ?? '');
  if (program === undefined) return undefined;
  const login = logins[kind];
  const readVariable = (name: string): string | undefined => environment[name] || undefined;
  const [file = ''] = login.files;
  const signedIn =
    hasKey(login, readVariable) || (await hasAccess(constants.R_OK, join(login.folder(readVariable), file)));
  const hint = `run ${kind} once and log in, or set ${login.keyVariables[0]}`;
  return { kind, program, signedIn, hint, models: knownModels[kind] };
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    if (await hasAccess(constants.X_OK, file)) return file;
  }
  return undefined;
}

async function hasAccess(mode: number, file: string): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}
