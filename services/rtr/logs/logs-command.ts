import { join } from 'node:path';
import { Command } from 'commander';
import { createWholeNumberParser } from '../commands/whole-number.ts';
import type { LogsConfig } from '../config.ts';

/** @param folder folder in which `rtr up` keeps the files of a cluster on this machine */
export function createLogsCommand(
  folder: string,
  readConfig: () => LogsConfig,
  print: (line: string) => void,
): Command {
  return new Command('logs')
    .description('print the last lines of the logs that `rtr up` keeps: of all parts, or of one, such as `ingress`')
    .argument('[part]', 'a part, or the beginning of the names of several')
    .option('-f, --follow', 'print further lines as they come')
    .option('--lines <count>', 'number of lines to print first', createWholeNumberParser(0, 100_000), 100)
    .action(async (part: string | undefined, { follow = false, lines }: { follow?: boolean; lines: number }) => {
      // Only this command needs the library that formats lines.
      const { createLineFormatter, printLogs } = await import('./print-logs.ts');
      const { stdout } = process;
      const format =
        chooseLogFormat(readConfig(), stdout) === 'pretty'
          ? createLineFormatter(stdout.isTTY && stdout.hasColors())
          : (line: string) => line;
      await printLogs({
        folder: join(folder, 'logs'),
        part,
        lines,
        follows: follow,
        stop: new AbortController().signal,
        print: (line) => print(format(line)),
      });
    });
}

/** Returns the format of log lines for an output: for a person at a terminal, else JSON, unless the settings name one. */
export function chooseLogFormat({ LOG_FORMAT }: LogsConfig, output: NodeJS.WriteStream): 'json' | 'pretty' {
  if (LOG_FORMAT !== 'auto') return LOG_FORMAT;
  return output.isTTY ? 'pretty' : 'json';
}
