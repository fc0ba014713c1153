import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { processIdentity } from '../../bootstrap/process-identity.mjs';
import { replaceFile } from '../replace-file.ts';

const recordSchema = z.array(z.object({ name: z.string(), pid: z.number().int().positive(), identity: z.string() }));

const patienceMs = 12_000;

/** Writes down which processes this cluster runs, for a later start to find what an unclean end has left. */
export function recordChildren(folder: string, children: readonly { name: string; pid: number | undefined }[]): void {
  const records = children.flatMap(({ name, pid }) => {
    const identity = pid === undefined ? undefined : processIdentity(pid);
    return identity === undefined ? [] : [{ name, pid, identity }];
  });
  replaceFile(recordFile(folder), JSON.stringify(records));
}

/**
 * Ends the processes that an earlier `rtr up` has left behind, if any: each is asked, then forced. A process that merely
 * has the number of one of them is left alone. Returns how many there were.
 */
export async function endLeftovers(folder: string): Promise<number> {
  const leftovers = readRecords(folder).filter(isAlive);
  for (const { pid } of leftovers) signalGroup(pid, 'SIGTERM');
  const deadline = Date.now() + patienceMs;
  while (leftovers.some(isAlive) && Date.now() < deadline) await sleep(50);
  for (const { pid } of leftovers.filter(isAlive)) signalGroup(pid, 'SIGKILL');
  while (leftovers.some(isAlive) && Date.now() < deadline + 2_000) await sleep(20);
  return leftovers.length;
}

function isAlive({ pid, identity }: { pid: number; identity: string }): boolean {
  return processIdentity(pid) === identity;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Gone since we looked.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function readRecords(folder: string): z.output<typeof recordSchema> {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(recordFile(folder), 'utf8')));
  } catch {
    // Never written, or by another version of this program: nothing that could be told for sure.
    return [];
  }
}

function recordFile(folder: string): string {
  return join(folder, 'children.json');
}
