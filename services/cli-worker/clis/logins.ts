import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { CliKind } from './cli.ts';

/** Returns a variable of the environment; undefined if it is unset or empty. */
export type ReadVariable = (name: string) => string | undefined;

export interface Login {
  /** Names of the variables for keys. One of them is enough. */
  keyVariables: readonly string[];
  /** Returns the folder of the user's login, which is used if no key is set. */
  folder: (readVariable: ReadVariable) => string;
  /** Files of the login in that folder. The first exists whenever there is a login. */
  files: readonly string[];
}

export type KnownCliKind = Exclude<CliKind, 'command'>;

export const logins: Readonly<Record<KnownCliKind, Login>> = {
  claude: {
    keyVariables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    folder: (readVariable) => readVariable('CLAUDE_CONFIG_DIR') ?? join(readHome(readVariable), '.claude'),
    files: ['.credentials.json'],
  },
  codex: {
    keyVariables: ['OPENAI_API_KEY'],
    folder: (readVariable) => readVariable('CODEX_HOME') ?? join(readHome(readVariable), '.codex'),
    files: ['auth.json'],
  },
  gemini: {
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    folder: (readVariable) => join(readVariable('GEMINI_CLI_HOME') ?? readHome(readVariable), '.gemini'),
    files: ['oauth_creds.json', 'google_accounts.json'],
  },
  opencode: {
    keyVariables: [
      'OPENCODE_API_KEY',
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'OPENROUTER_API_KEY',
      'GEMINI_API_KEY',
      'GOOGLE_GENERATIVE_AI_API_KEY',
      'GROQ_API_KEY',
      'MISTRAL_API_KEY',
      'DEEPSEEK_API_KEY',
      'XAI_API_KEY',
    ],
    folder: (readVariable) =>
      join(readVariable('XDG_DATA_HOME') ?? join(readHome(readVariable), '.local', 'share'), 'opencode'),
    files: ['auth.json'],
  },
};

/**
 * Creates a CLI's own folder with links to the files of the user's login. The folder contains nothing else of the user, such as
 * settings, servers or memories. The files are links, not copies, because a CLI that renews a login must renew the user's login.
 */
export async function linkLogin(login: Login, readVariable: ReadVariable, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const usersFolder = login.folder(readVariable);
  await Promise.all(login.files.map((name) => symlink(join(usersFolder, name), join(folder, name))));
}

export function hasKey({ keyVariables }: Login, readVariable: ReadVariable): boolean {
  return keyVariables.some((name) => readVariable(name) !== undefined);
}

/** Returns the path of the file that a sign-in writes; undefined if a key is set. */
export function findLoginFile(login: Login, readVariable: ReadVariable): string | undefined {
  const [file] = login.files;
  return file === undefined || hasKey(login, readVariable) ? undefined : join(login.folder(readVariable), file);
}

function readHome(readVariable: ReadVariable): string {
  return readVariable('HOME') ?? '/';
}
