import { loggableError } from './loggable-error.ts';
import { pino, type Logger } from 'pino';

export type { Logger };

export interface LogOptions {
  service: string;
  /** Least severe level to print. */
  level: string;
  /** `json`: one object per line; `pretty`: text for people; `auto`: pretty in a terminal, else JSON. */
  format: 'auto' | 'json' | 'pretty';
}

/** JSON lines are buffered up to this many characters and this many milliseconds. */
const writeAtLength = 8 * 1024;
const writeEveryMs = 50;

const redacted = (): string => '[redacted]';

/**
 * Creates a service's logger. Callers must never pass keys, request or answer bodies, or prompts. As a second line of defence,
 * top-level fields that usually carry secrets are redacted; searching nested objects would cost more than writing the line.
 *
 * JSON lines are written in batches and without waiting for the reader. The last batch is written when the process exits,
 * also after an uncaught error.
 */
export function createLog({ service, level, format }: LogOptions): Logger {
  const options = {
    level,
    base: { service },
    // Serializers cost only lines with these fields; the library's own redaction costs a third of every line.
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
  const destination = pino.destination({ sync: false, minLength: writeAtLength });
  let timer: NodeJS.Timeout | undefined;
  const writeSoon = (line: string): string => {
    timer ??= setTimeout(() => {
      timer = undefined;
      destination.flush();
    }, writeEveryMs).unref();
    return line;
  };
  return pino({ ...options, hooks: { streamWrite: writeSoon } }, destination);
}
