import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { prettyFactory } from 'pino-pretty';
import type { Child } from './children/child.ts';

const levels = { info: 30, warn: 40, error: 50 };

/** Writes the log lines of all services and of `rtr up` to one output. */
export interface LogRelay {
  /** Relays both outputs of a service. JSON lines stay unchanged; other lines are wrapped in JSON. */
  follow(service: string, child: Child): void;
  write(level: keyof typeof levels, message: string): void;
}

/** Creates a relay that writes JSON lines (`json`) or lines for a person (`pretty`). */
export function createLogRelay(output: Writable, format: 'json' | 'pretty'): LogRelay {
  const pretty = prettyFactory({
    ignore: 'pid,hostname,service',
    messageFormat: '{service}: {msg}',
    translateTime: 'HH:MM:ss.l',
    singleLine: true,
    colorize: true,
  });
  const emit = (line: string) => output.write(format === 'json' ? `${line}\n` : pretty(line));
  const wrap = (level: number, service: string, msg: string) =>
    emit(JSON.stringify({ level, time: Date.now(), service, msg }));
  return {
    follow(service, child) {
      for (const input of [child.stdout, child.stderr]) {
        createInterface({ input }).on('line', (line) => {
          if (line.startsWith('{')) emit(line);
          else if (line.trim() !== '') wrap(input === child.stderr ? levels.error : levels.info, service, line);
        });
      }
      child.once('error', (error) => wrap(levels.error, service, error.message));
    },
    write: (level, message) => wrap(levels[level], 'rtr up', message),
  };
}
