import type { Command } from 'commander';
import { clientSettings } from '#services/rtr/config.ts';
import type { RunClientCommand } from '#services/rtr/commands/client/client-context.ts';
import { withClient } from '#services/rtr/commands/client/with-client.ts';
import { loadConfig } from '#shared/core/load-config.ts';

/** Runs commands that speak to a cluster with a key, as a person types them. @returns the printed lines */
export function clientCommands({ url, key }: { url: string; key: string }) {
  return async (make: (run: RunClientCommand) => Command, ...words: string[]): Promise<string[]> => {
    const lines: string[] = [];
    const config = loadConfig(clientSettings, { RTR_URL: url, RTR_KEY: key });
    const output = { write: () => true, isTTY: true, columns: 80 };
    const run: RunClientCommand = (options, command) =>
      withClient({ config, json: options.json ?? false, print: (line) => void lines.push(line), output }, command);
    await make(run).exitOverride().parseAsync(words, { from: 'user' });
    return lines;
  };
}
