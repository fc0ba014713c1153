import { Readable, Writable } from 'node:stream';
import { Command } from 'commander';
import { inject } from 'vitest';
import type { RunAdminCommand } from '#services/rtr/commands/admin/admin-context.ts';
import { describeOperations } from '#services/console/api/create-operations.ts';
import { addAdminCommands } from '#services/rtr/commands/admin/admin-commands.ts';
import { withAdmin } from '#services/rtr/commands/admin/with-admin.ts';
import { adminSettings } from '#services/rtr/config.ts';
import { loadConfig } from '#shared/core/load-config.ts';

export interface AdminOutcome {
  lines: string[];
  /** Lines on the standard error. */
  hints: string[];
  /** Content other than lines. */
  content: string;
  code: number;
}

export interface AdminCommands {
  /** Runs a command and returns the lines that it prints. */
  (...words: string[]): Promise<string[]>;
  /** Runs a command and returns everything about it. */
  whole: (...words: string[]) => Promise<AdminOutcome>;
  /** Returns the object that a command prints with `--json`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into it as they need
  json: (...words: string[]) => Promise<any>;
}

export interface AdminCommandOptions {
  url: string;
  prefix: string;
  /** An admin token; without it, commands create one in the store. */
  token?: string;
  /** Content of the standard input. */
  piped?: string;
  /** Further settings, which override these. */
  environment?: Record<string, string>;
}

/** Creates a function that runs the commands of the Admin API against a cluster, as a person types them. The cluster may start later. */
export function adminCommandsOf(cluster: AdminCommandOptions): AdminCommands {
  const whole = async (...words: string[]): Promise<AdminOutcome> => {
    const { url, prefix, token = '', piped = '' } = cluster;
    const own = { RTR_URL: url, RTR_PREFIX: prefix, REDIS_URL: inject('redisUrl'), RTR_ADMIN_TOKEN: token };
    const environment = { ...own, ...cluster.environment };
    const outcome: AdminOutcome = { lines: [], hints: [], content: '', code: 0 };
    const output = new Writable({
      write: (piece: Buffer, _, done) => {
        outcome.content += piece.toString();
        done();
      },
    });
    const run: RunAdminCommand = (options, command) =>
      withAdmin(
        {
          config: loadConfig(adminSettings, environment),
          options,
          folder: '/nowhere',
          print: (line) => void outcome.lines.push(line),
          hint: (line) => void outcome.hints.push(line),
          input: Readable.from([Buffer.from(piped)], { objectMode: false }),
          output,
          setExitCode: (code) => {
            outcome.code = code;
          },
        },
        command,
      );
    const program = new Command();
    addAdminCommands(program, describeOperations(), run);
    await silent(program).parseAsync(words, { from: 'user' });
    return outcome;
  };
  const lines = async (...words: string[]) => (await whole(...words)).lines;
  const json = async (...words: string[]): Promise<unknown> => JSON.parse((await lines(...words, '--json'))[0] ?? '');
  return Object.assign(lines, { whole, json });
}

/** Makes mistakes throw instead of ending this process. */
function silent(command: Command): Command {
  for (const each of command.commands) silent(each);
  return command.exitOverride().configureOutput({ writeErr: () => undefined });
}
