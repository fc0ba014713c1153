import { writeSync } from 'node:fs';
import { toLoggableError } from './loggable-error.ts';
import { pino, type Logger } from 'pino';

export type { Logger };

export interface LogOptions {
  service: string;
  /** The least severe level to print. */
  level: string;
  /** `json`: one object per line; `pretty`: text for people; `auto`: pretty in a terminal, else JSON. */
  format: 'auto' | 'json' | 'pretty';
}

/** Buffered JSON lines are written when they have this many characters. */
const writeAtLength = 64 * 1024;
/** Maximum milliseconds for which JSON lines are buffered. */
const writeEveryMs = 50;

/** Maximum milliseconds to write the last lines if the process ends and its reader is slow. */
const maxLastWriteMs = 1_000;

const writesAtExit: (() => void)[] = [];

const redact = (): string => '[redacted]';

/**
 * Creates a service's logger. Callers must never pass keys, request or answer bodies, or prompts. As a second line of defence, top-level
 * fields that usually contain secrets are redacted. A search in nested objects would cost more than writing the line.
 *
 * JSON lines are written in batches and without waiting for the reader. The last batch is written when the process exits, even after an
 * uncaught error.
 */
export function createLog({ service, level, format }: LogOptions): Logger {
  const options = {
    level,
    base: { service },
    // Serializers cost only lines with these fields; the library's own redaction costs a third of every line.
    serializers: {
      err: (error: unknown) => toLoggableError(error),
      authorization: redact,
      key: redact,
      secret: redact,
      password: redact,
    },
  };
  if (format === 'pretty' || (format === 'auto' && process.stdout.isTTY)) {
    const prettyOptions = { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' };
    return pino({ ...options, transport: { target: 'pino-pretty', options: prettyOptions } });
  }
  return pino(options, batchLines());
}

/**
 * Writes lines to the standard output in batches. If the reader of the output has ended, the process runs on without a log, and ends
 * normally.
 */
function batchLines(): { write: (line: string) => void } {
  const destination = pino.destination({ sync: false });
  let lines = '';
  let isWriting = false;
  let isBroken = false;
  let timer: NodeJS.Timeout | undefined;
  const writeOut = (): void => {
    clearTimeout(timer);
    timer = undefined;
    // Only one batch is written at a time. Otherwise, the library would try for ever to write further batches at the end of a process
    // without a reader.
    if (isWriting || lines === '') return;
    isWriting = true;
    destination.write(lines);
    lines = '';
  };
  const writeSoon = (): void => {
    if (lines.length >= writeAtLength) writeOut();
    else if (lines !== '') timer ??= setTimeout(writeOut, writeEveryMs).unref();
  };
  destination.on('drain', () => {
    isWriting = false;
    writeSoon();
  });
  destination.on('error', () => {
    isBroken = true;
    lines = '';
  });
  if (writesAtExit.push(() => writeLast(lines)) === 1)
    process.on('exit', () => writesAtExit.forEach((write) => write()));
  return {
    write: (line) => {
      if (isBroken) return;
      lines += line;
      writeSoon();
    },
  };
}

/** Writes a text to the standard output before the process ends. Writes as much as the reader takes within a second. */
function writeLast(text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  const endsAt = performance.now() + maxLastWriteMs;
  while (rest.length > 0 && performance.now() < endsAt) {
    try {
      rest = rest.subarray(writeSync(process.stdout.fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
