import { ConfigError } from '#shared/core/load-config.ts';
import { claude } from './claude/claude.ts';
import { codex } from './codex/codex.ts';
import { serveCli, type ServedCli, type ServeOptions } from '../serve-cli.ts';
import type { Cli, CliKind } from './cli.ts';
import { createCommandCli } from './command.ts';
import { gemini } from './gemini/gemini.ts';
import { createOpencodeCli } from './opencode/opencode.ts';

/** A CLI of any kind, without the types of its requests and pieces. */
export interface ServableCli {
  kind: CliKind;
  serve(options: ServeOptions): Promise<ServedCli>;
}

/** The CLIs with built-in support. Each kind is also the name of the program. */
const clis: Readonly<Record<Exclude<CliKind, 'command'>, ServableCli>> = {
  claude: toServableCli(claude),
  codex: toServableCli(codex),
  gemini: toServableCli(gemini),
  // Each worker has its own driver of opencode, because the driver finds out at run time what opencode supports.
  opencode: { kind: 'opencode', serve: (options) => serveCli(createOpencodeCli(), options) },
};

function toServableCli<Request, Piece>(cli: Cli<Request, Piece>): ServableCli {
  return { kind: cli.kind, serve: (options) => serveCli(cli, options) };
}

/**
 * Returns the CLI of a kind, and the program to run: a name on the PATH, or a path.
 * @param command the program, with its arguments if `kind` is `command`; undefined for the program with the kind's own name
 * @throws ConfigError if `kind` is `command` and no program is named
 */
export function selectCli(kind: CliKind, command: string | undefined): { cli: ServableCli; program: string } {
  if (kind !== 'command') return { cli: clis[kind], program: command ?? kind };
  const [program, ...args] = splitCommand(command ?? '');
  if (program === undefined) throw new ConfigError('CLI_COMMAND must name a program when CLI_KIND is command.');
  return { cli: toServableCli(createCommandCli(args)), program };
}

/**
 * Splits a command line into words as shells do with blanks and quotes. Supports nothing else of a shell: no variables, globs, escapes or
 * pipes.
 */
export function splitCommand(line: string): string[] {
  return [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''),
  );
}
