import type { Readable, Writable } from 'node:stream';
import { Option, type Command } from 'commander';
import type { AdminClient } from './admin-client.ts';

export interface AdminContext {
  client: AdminClient;
  print: (line: string) => void;
  /** Writes a line to the standard error. */
  hint: (line: string) => void;
  json: boolean;
  input: Readable;
  /** Standard output, for content that is not lines of text. */
  output: Writable;
  /** Sets the exit code of the process. */
  setExitCode: (code: number) => void;
}

export interface AdminOptions {
  router?: string;
  tokenFile?: string;
  json?: true;
}

export type RunAdminCommand = (
  options: AdminOptions,
  command: (context: AdminContext) => Promise<unknown>,
) => Promise<void>;

/**
 * Adds a command with the options that all commands of the Admin API share.
 * @param words the name and arguments of the command, such as `show <user>`
 */
export function addCommand(parent: Command, words: string, description: string): Command {
  return withAdminOptions(parent.command(words).description(description));
}

export function withAdminOptions(command: Command): Command {
  return command
    .addOption(new Option('--json', 'print JSON instead of sentences'))
    .addOption(new Option('--router <url>', 'address of the router, instead of RTR_URL'))
    .addOption(new Option('--token-file <file>', 'file with the admin token, instead of RTR_ADMIN_TOKEN'));
}
