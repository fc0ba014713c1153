import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { processIdentity } from '#shared/core/process-identity.mjs';
import { replaceFile } from '#shared/core/replace-file.ts';

const recordSchema = z.array(
  z.object({
    name: z.string(),
    pid: z.number().int().positive(),
    identity: z.string(),
    /** Milliseconds since 1970. */
    startedAt: z.number().optional(),
    /** How the process ended, such as `ended with exit code 1`; absent while it runs. */
    end: z.string().optional(),
  }),
);

/** Identity of a process that has ended. No process that runs has it. */
const endedIdentity = 'ended';

const stopTimeoutMs = 12_000;

/**
 * Records the processes of this cluster, also those that have ended unexpectedly. If the cluster does not end cleanly, its next start
 * finds the remaining processes.
 */
export function recordChildren(
  folder: string,
  children: readonly { name: string; pid: number | undefined; startedAt?: number; end?: string | undefined }[],
): void {
  const records = children.flatMap(({ pid, ...facts }) => {
    if (pid === undefined) return [];
    const identity = facts.end === undefined ? processIdentity(pid) : endedIdentity;
    return identity === undefined ? [] : [{ ...facts, pid, identity }];
  });
  replaceFile(recordFile(folder), JSON.stringify(records));
}

/**
 * Ends the processes that an earlier `rtr up` left behind: SIGTERM, then SIGKILL. Does not signal a process that has reused a recorded
 * process id.
 * @returns the number of processes that were left behind
 */
export async function endLeftovers(folder: string): Promise<number> {
  const leftovers = readRecords(folder).filter(isAlive);
  for (const { pid } of leftovers) signalGroup(pid, 'SIGTERM');
  const deadline = Date.now() + stopTimeoutMs;
  while (leftovers.some(isAlive) && Date.now() < deadline) await sleep(50);
  for (const { pid } of leftovers.filter(isAlive)) signalGroup(pid, 'SIGKILL');
  while (leftovers.some(isAlive) && Date.now() < deadline + 2_000) await sleep(20);
  return leftovers.length;
}

export interface Part {
  name: string;
  pid: number;
  startedAt: number | undefined;
  /** How it ended; undefined while it runs. */
  end: string | undefined;
}

/** Returns the parts of the cluster of a folder, those that run and those that have ended unexpectedly. */
export function readParts(folder: string): Part[] {
  return readRecords(folder).map((record) => ({
    name: record.name,
    pid: record.pid,
    startedAt: record.startedAt,
    end: record.end ?? (isAlive(record) ? undefined : 'has ended'),
  }));
}

function isAlive({ pid, identity }: { pid: number; identity: string }): boolean {
  return processIdentity(pid) === identity;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The group ended in the meantime.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function readRecords(folder: string): z.output<typeof recordSchema> {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(recordFile(folder), 'utf8')));
  } catch {
    // Without a readable record, no process is known to belong to the cluster.
    return [];
  }
}

function recordFile(folder: string): string {
  return join(folder, 'children.json');
}
