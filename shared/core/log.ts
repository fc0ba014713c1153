import { loggableError } from './loggable-error.ts';
import { pino, type Logger } from 'pino';

export type { Logger };

/** Where log lines go: JSON for machines (one object a line), or readable text for a person at a terminal. */
export interface LogOptions {
  service: string;
  level: string;
  format: 'auto' | 'json' | 'pretty';
}

/** JSON lines are written when they have grown to this many characters together, and after this many milliseconds. */
const writeAtLength = 8 * 1024;
const writeEveryMs = 50;

const redacted = (): string => '[redacted]';

/**
 * Makes a service's logger. What it must never be given: keys, request or answer bodies, prompts.
 * As a second line of defence, fields of the line that usually carry secrets are redacted; looking into objects, too,
 * would cost more than writing the line.
 *
 * JSON lines are written several at once, without waiting for whoever reads them; what is left is written when the
 * process exits, also by an uncaught error.
 */
export function createLog({ service, level, format }: LogOptions): Logger {
  const options = {
    level,
    base: { service },
    // As serializers, which only fields of these names pay for; the library's own redaction costs a third of every line.
    serializers: {
      err: (error: unknown) => loggableError(error),
      authorization: redacted,
      key: redacted,
      secret: redacted,
      password: redacted,
    },
  };
  if (format === 'pretty' || (format === 'auto' && process.stdout.isTTY)) {
    const prettily = { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' };
    return pino({ ...options, transport: { target: 'pino-pretty', options: prettily } });
  }
  return pino(options, pino.destination({ sync: false, minLength: writeAtLength, periodicFlush: writeEveryMs }));
}
