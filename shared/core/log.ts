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
 * As a second line of defence, fields that usually carry secrets are redacted.
 */
export function createLog({ service, level, format }: LogOptions): Logger {
  const pretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY);
  return pino({
    level,
    base: { service },
    redact: { paths: ['authorization', 'key', 'secret', '*.authorization', '*.key', '*.secret'], censor: '[redacted]' },
    ...(pretty
      ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' } } }
      : {}),
  });
}
