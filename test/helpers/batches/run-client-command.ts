import { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { clientSettings } from '#services/rtr/config.ts';
import type { RunClientCommand } from '#services/rtr/commands/client/client-context.ts';
import { withClient } from '#services/rtr/commands/client/with-client.ts';
import { loadConfig } from '#shared/core/load-config.ts';

/**
 * Runs commands of the router's clients against a cluster with a key, as a person types them.
 * @param piped content of the standard input
 */
export function clientCommands({ url, key, piped = '' }: { url: string; key: string; piped?: string | undefined }) {
  return async (make: (run: RunClientCommand) => Command, ...words: string[]): Promise<string[]> => {
    const lines: string[] = [];
    const config = loadConfig(clientSettings, { RTR_URL: url, RTR_KEY: key });
    const barOutput = { write: () => true, isTTY: true, columns: 80 };
    const content: Buffer[] = [];
    const output = new Writable({
      write: (piece: Buffer, _, done) => {
        content.push(piece);
        done();
      },
    });
    const input = Readable.from([Buffer.from(piped)], { objectMode: false });
    const run: RunClientCommand = (options, command) =>
      withClient(
        {
          config,
          folder: '/nowhere',
          json: options.json ?? false,
          print: (line) => void lines.push(line),
          input,
          output,
          barOutput,
        },
        command,
      );
    await make(run).exitOverride().parseAsync(words, { from: 'user' });
    return content.length === 0 ? lines : [...lines, Buffer.concat(content).toString()];
  };
}
