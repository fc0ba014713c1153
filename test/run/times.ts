import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const ms = z.number();

const timesSchema = z.array(
  z.object({
    /** Path below the project. */
    file: z.string(),
    wallMs: ms,
    /** Processor time of the file's process and its children. */
    cpuMs: ms,
    tests: z.array(z.object({ name: z.string(), wallMs: ms, cpuMs: ms })),
    starts: z.array(z.object({ kind: z.string(), ms })),
  }),
);

/** The times of each test file of a run. */
export type FileTimes = z.infer<typeof timesSchema>[number];

const folder = join(import.meta.dirname, '..', '..', '.rtr', 'test-times');

/** Returns the file with the times of a suite's last run. It is not committed. */
export function timesFile(suite: string): string {
  return join(folder, `${suite}.json`);
}

export function writeTimes(suite: string, times: readonly FileTimes[]): void {
  mkdirSync(dirname(timesFile(suite)), { recursive: true });
  writeFileSync(timesFile(suite), JSON.stringify(times));
}

/** Returns the times of a suite's last run; undefined before the first one. */
export function readTimes(suite: string): FileTimes[] | undefined {
  const file = timesFile(suite);
  return existsSync(file) ? timesSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}
