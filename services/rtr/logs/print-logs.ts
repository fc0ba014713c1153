import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prettyFactory } from 'pino-pretty';
import { UpError } from '../up/up-error.ts';
import { toPreviousFile } from './log-file.ts';
import { toFileName } from './log-folder.ts';
import { LogReader } from './log-reader.ts';

const followEveryMs = 250;

export interface PrintLogsOptions {
  /** Folder of the log files. */
  folder: string;
  /** The part, or the beginning of the names of several; undefined for all parts. */
  part: string | undefined;
  /** Number of lines to print first. */
  lines: number;
  /** Whether to print the lines that are added, until `stop` aborts. */
  follows: boolean;
  stop: AbortSignal;
  print: (line: string) => void;
}

/**
 * `rtr logs`: prints the last lines of the parts' log files in the order of their times.
 * @throws UpError if no part with this name has a log
 */
export async function printLogs({ folder, part, lines, follows, stop, print }: PrintLogsOptions): Promise<void> {
  const readers = new Map<string, LogReader>();
  const openNew = (): LogReader[] => {
    const added = findFiles(folder, part).filter((name) => !readers.has(name));
    return added.map((name) => {
      const reader = new LogReader(join(folder, name));
      readers.set(name, reader);
      return reader;
    });
  };
  if (openNew().length === 0) throw createMissingError(folder, part);
  const last = [...readers].flatMap(([name, reader]) => {
    const current = reader.readLast(lines);
    if (current.length >= lines) return current;
    return [...new LogReader(toPreviousFile(join(folder, name))).readLast(lines - current.length), ...current];
  });
  for (const line of sortByTime(last).slice(-lines || last.length)) print(line);
  if (follows) {
    while (!stop.aborted) {
      await sleep(followEveryMs, undefined, { signal: stop }).catch(() => undefined);
      openNew();
      for (const line of sortByTime([...readers.values()].flatMap((reader) => reader.readNew()))) print(line);
    }
  }
  for (const reader of readers.values()) reader.close();
}

/** Returns the function that formats log lines for a person. */
export function createLineFormatter(hasColors: boolean): (line: string) => string {
  const format = prettyFactory({
    ignore: 'pid,hostname,service',
    messageFormat: '{service}: {msg}',
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    colorize: hasColors,
  });
  return (line) => format(line).trimEnd();
}

function findFiles(folder: string, part: string | undefined): string[] {
  const prefix = part === undefined ? '' : toFileName(part).replace(/\.log$/, '');
  return listLogs(folder).filter((name) => name.startsWith(prefix));
}

function listLogs(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.log'));
  } catch {
    return [];
  }
}

function createMissingError(folder: string, part: string | undefined): UpError {
  const parts = listLogs(folder).map((name) => name.replace(/\.log$/, ''));
  if (part === undefined || parts.length === 0) return new UpError(`There are no logs in ${folder} yet.`);
  return new UpError(`There is no log of ${part}. There are those of ${parts.toSorted().join(', ')}.`);
}

/** Sorts lines by their times; lines with the same time keep their order. */
function sortByTime(lines: readonly string[]): string[] {
  return lines
    .map((line) => ({ line, time: Number(/"time":(\d+)/.exec(line)?.[1] ?? 0) }))
    .toSorted((a, b) => a.time - b.time)
    .map(({ line }) => line);
}
