/** A line of a service's log. It may have other fields, too. */
export interface LogEntry {
  /** pino's number of the level, such as 40 for a warning. */
  level: number;
  /** Milliseconds since 1970. */
  time: number;
  msg: string;
  reason?: string | undefined;
  err?: LoggedError | undefined;
}

export interface LoggedError {
  code?: string | undefined;
  message?: string | undefined;
  cause?: LoggedError | undefined;
}

export const levels = { info: 30, warn: 40, error: 50 };

/** Parses a JSON line of a service's log; undefined for any other text. */
export function parseLogEntry(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry = JSON.parse(line) as Partial<LogEntry>;
    const { level, time, msg } = entry;
    if (typeof level !== 'number' || typeof time !== 'number' || typeof msg !== 'string') return undefined;
    return { ...entry, level, time, msg, reason: typeof entry.reason === 'string' ? entry.reason : undefined };
  } catch {
    return undefined;
  }
}
