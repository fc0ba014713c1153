import type { Command } from 'commander';
import { ConfigError } from '#shared/core/load-config.ts';
import { RouterError } from '#shared/core/errors.ts';
import { configExitCode } from '#shared/core/run-service.ts';
import { BoxError } from '../box/box-error.ts';
import { ServerMissingError } from '../up/servers/install-server.ts';
import { UpError } from '../up/up-error.ts';
import { CallError } from './client/call-error.ts';

/** A failure as a command prints it with `--json`, in the shape of the Admin API's failures. */
export interface FailureObject {
  error: { code: string; message: string; field?: string };
}

/** Returns the text of a failure: its message, or the stack if the cause may be a bug. */
export function formatFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return findCode(error) === undefined ? (error.stack ?? error.message) : error.message;
}

export function toFailureObject(error: unknown): FailureObject {
  const message = error instanceof Error ? error.message : String(error);
  const field = error instanceof CallError ? error.field : error instanceof RouterError ? error.param : undefined;
  return { error: { code: findCode(error) ?? 'internal', message, ...(field !== undefined && { field }) } };
}

/** Returns the exit code of a command that has failed. Service managers do not start a program with 78 again. */
export function toExitCode(error: unknown): number {
  return error instanceof BoxError && error.isLasting ? configExitCode : 1;
}

/** Configures a command and its subcommands to report wrong arguments and options as JSON, without the help. */
export function reportUsageAsJson(command: Command): void {
  command.showHelpAfterError(false).configureOutput({
    outputError: (text, write) => {
      const message = text.replace(/^error: /, '').trim();
      write(`${JSON.stringify({ error: { code: 'invalid_usage', message } } satisfies FailureObject)}\n`);
    },
  });
  for (const subcommand of command.commands) reportUsageAsJson(subcommand);
}

/** Returns the code of a failure with a message for the user; undefined for any other failure. */
function findCode(error: unknown): string | undefined {
  if (error instanceof CallError) return error.code ?? (error.status === 0 ? 'unreachable' : 'refused');
  if (error instanceof RouterError || error instanceof BoxError) return error.code;
  if (error instanceof ConfigError) return 'invalid_setting';
  return error instanceof UpError || error instanceof ServerMissingError ? 'unavailable' : undefined;
}
