import { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';
import { workerSettings } from '#shared/worker/worker-settings.ts';
import { cliKinds } from './clis/cli.ts';

/** A model's name may become an argument of a command: it is not taken for an option, and needs no quotes anywhere. */
const modelName = /^[A-Za-z0-9][\w.:/@[\]-]{0,127}$/;

/** Every setting of the CLI worker. */
export const cliWorkerConfig = z.object({
  CLI_KIND: z.enum(cliKinds).describe('Which command-line agent it drives; command is any other program'),
  CLI_COMMAND: setting.optionalText(
    "The program, by name or path; the kind's own name when unset. for command with its arguments, in which {model} stands for the model",
  ),
  CLI_MODELS: setting
    .list('Names of the models to offer, separated by commas, as the CLI knows them; the first one is kept warm')
    .pipe(z.tuple([z.string().regex(modelName)], z.string().regex(modelName))),
  CLI_ENV: setting.list('Further variables that the CLI may see, separated by commas; it sees none but those it needs'),
  CLI_CONTEXT_WINDOW: setting.integer('Tokens that fit into one conversation; 0 when unknown', 0, 0, 100_000_000),
  SLOTS: setting.integer('Conversations at once; as many processes stand ready', 2, 1, 64),
  RECYCLE_AFTER: setting.integer('Conversations after which a process is replaced', 100, 1, 100_000),
  RECYCLE_MB: setting.integer('Mebibytes of memory from which on a process is replaced', 1024, 64, 1_048_576),
  COALESCE_MS: setting.integer('Fragments that follow within this time travel together; 0 is off', 5, 0, 1000),
  START_TIMEOUT_MS: setting.integer('For a process to become ready', 60_000, 50, 600_000),
  FIRST_TOKEN_TIMEOUT_MS: setting.integer('From the request to the first piece of the answer', 300_000, 50, 3_600_000),
  IDLE_TIMEOUT_MS: setting.integer('Between two pieces of the answer', 120_000, 50, 3_600_000),
  ANSWER_TIMEOUT_MS: setting.integer('From the request to the end of the answer', 1_800_000, 50, 86_400_000),
  DRAIN_MS: setting.integer('For running jobs to finish when the worker stops', 30_000, 0, 3_600_000),
  ...workerSettings,
});

export type CliWorkerConfig = z.output<typeof cliWorkerConfig>;
