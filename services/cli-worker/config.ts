import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { workerSettings } from '#shared/worker/worker-settings.ts';
import { cliKinds } from './clis/cli.ts';

/** Names of models. A name may become an argument of a command, so it must not look like an option or need quotes. */
const modelName = /^[A-Za-z0-9][\w.:/@[\]-]{0,127}$/;

/** Highest value of a timeout, in milliseconds. */
const maxMs = 3_600_000;

export const cliWorkerConfig = z.object({
  CLI_KIND: z.enum(cliKinds).describe('Command-line agent; `command` is any other program'),
  CLI_COMMAND: setting.optionalText(
    'Program, by name or path; by default the name of the kind. For `command` with its arguments, in which `{model}` stands for the model',
  ),
  CLI_MODELS: setting
    .list('Names, separated by commas')
    .pipe(z.tuple([z.string().regex(modelName)], z.string().regex(modelName)))
    .describe("Models to offer, separated by commas, by the CLI's names; processes are started for the first"),
  CLI_ENV: setting.list(
    'Further environment variables that are passed to the CLI, separated by commas; by default only those that it needs',
  ),
  CLI_CONTEXT_WINDOW: setting.integer('Tokens of the context window; 0 if unknown', 0, 0, 100_000_000),
  SLOTS: setting.integer('Maximum number of conversations at once; as many processes are kept ready', 2, 1, 64),
  FIRST_TOKEN_TIMEOUT_MS: setting.integer(
    'Timeout for the first piece of an answer, in milliseconds',
    300_000,
    50,
    maxMs,
  ),
  IDLE_TIMEOUT_MS: setting.integer('Timeout between two pieces of an answer, in milliseconds', 120_000, 50, maxMs),
  ANSWER_TIMEOUT_MS: setting.integer('Timeout for a whole answer, in milliseconds', 1_800_000, 50, 86_400_000),
  DRAIN_MS: setting.integer('Time for running jobs to finish when the worker stops, in milliseconds', 30_000, 0, maxMs),
  ...workerSettings,
});

export type CliWorkerConfig = z.output<typeof cliWorkerConfig>;
