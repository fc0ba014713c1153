import { pino, type Logger } from 'pino';

export type { Logger };

/** Where log lines go: JSON for machines (one object a line), or readable text for a person at a terminal. */
export interface LogOptions {
  service: string;
  level: string;
  format: 'auto' | 'json' | 'pretty';
}

/**
 * Makes a service's logger. What it must never be given: keys, request or answer bodies, prompts.
 * As a second line of defence, fields of the line that usually carry secrets are redacted; looking into objects, too,
 * would cost more than writing the line.
 */
export function createLog({ service, level, format }: LogOptions): Logger {
  const pretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY);
  return pino({
    level,
    base: { service },
    redact: { paths: ['authorization', 'key', 'secret', 'password'], censor: '[redacted]' },
    ...(pretty
      ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' } } }
      : {}),
  });
}
