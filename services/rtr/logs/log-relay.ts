import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Child } from '../up/children/child.ts';
import { levels, parseLogEntry } from './log-entry.ts';
import { LogFolder } from './log-folder.ts';
import { TerminalLog } from './terminal-log.ts';

/** Receives the log lines of all parts and of `rtr up`. */
export interface LogRelay {
  /** Relays both outputs of a part. JSON lines stay unchanged; other lines are wrapped in JSON. */
  follow(part: string, child: Pick<Child, 'stdout' | 'stderr' | 'once'>): void;
  write(level: keyof typeof levels, message: string): void;
}

/** Name of the log of `rtr up` itself. */
const ownPart = 'up';
/** Programs that log no JSON. Their lines go into their files only, because they say nothing that the other parts do not say. */
const servers: ReadonlySet<string> = new Set(['nats', 'redis']);

/**
 * Creates a relay that writes every line into the file of its part, and besides to an output: all JSON lines (`json`), or the requests and
 * problems for a person at a terminal (`pretty`).
 * @param folder folder of the log files
 */
export function createLogRelay(output: Writable, format: 'json' | 'pretty', folder: string): LogRelay {
  const terminal = new TerminalLog(output);
  let hasFailed = false;
  const files = new LogFolder(folder, (error) => {
    if (hasFailed) return;
    hasFailed = true;
    const reason = error instanceof Error ? error.message : String(error);
    const msg = `Log files cannot be written: ${reason}`;
    show(ownPart, JSON.stringify({ level: levels.warn, time: Date.now(), service: 'rtr up', msg }));
  });
  process.on('exit', () => files.flush());

  const show = (part: string, line: string): void => {
    if (format === 'json') output.write(`${line}\n`);
    else {
      const entry = parseLogEntry(line);
      if (entry) terminal.write(part, entry);
    }
  };
  const relayText = (part: string, level: number, msg: string): void => {
    const line = JSON.stringify({ level, time: Date.now(), service: part, msg });
    files.write(part, line);
    // For a person, the frames of a stack and the like are details.
    if (!servers.has(part) && (format === 'json' || /^(?!\s).*error/i.test(msg))) show(part, line);
  };
  const read = (part: string, input: Readable, level: number): void => {
    createInterface({ input }).on('line', (line) => {
      if (line.startsWith('{')) {
        files.write(part, line);
        show(part, line);
      } else if (line.trim() !== '') relayText(part, level, line);
    });
  };
  return {
    follow(part, child) {
      read(part, child.stdout, levels.info);
      // A server writes everything to its standard error.
      read(part, child.stderr, servers.has(part) ? levels.info : levels.error);
      child.once('error', (error) => relayText(part, levels.error, error.message));
    },
    write(level, msg) {
      const entry = { level: levels[level], time: Date.now(), service: 'rtr up', msg };
      const line = JSON.stringify(entry);
      files.write(ownPart, line);
      if (format === 'json') output.write(`${line}\n`);
      else terminal.say(entry);
    },
  };
}
