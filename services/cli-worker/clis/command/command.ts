import type { CliProcess } from '../../process/cli-process.ts';
import type { Cli, SessionStart } from '../cli.ts';
import { CommandSession } from './command-session.ts';

/**
 * Any program that reads a prompt from its standard input until that ends, and prints its answer as text.
 * @param args its arguments; `{model}` in them stands for the model's name
 */
export function commandCli(args: readonly string[]): Cli {
  return {
    kind: 'command',
    capabilities: ['stream'],
    singleUse: true,
    start: ({ starter, workspace, models }: SessionStart) => {
      const startFor = (model: string): CliProcess =>
        starter.start({ args: args.map((arg) => arg.replaceAll('{model}', model)), workspace, allowed: [], set: {} });
      // A program that is slow to start is started before there is a prompt, as if it were for the first model.
      return Promise.resolve(new CommandSession(startFor, models[0]));
    },
  };
}
