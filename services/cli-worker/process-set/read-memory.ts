import { readFile } from 'node:fs/promises';

/**
 * Returns the resident bytes of a process and all its descendants, from Linux's `/proc`. Returns 0 on other systems, and for a process that
 * has ended.
 */
export async function readMemory(pid: number): Promise<number> {
  const [ownBytes, children] = await Promise.all([readResidentBytes(pid), readChildren(pid)]);
  const childrenBytes = await Promise.all(children.map(readMemory));
  return childrenBytes.reduce((sum, bytes) => sum + bytes, ownBytes);
}

async function readResidentBytes(pid: number): Promise<number> {
  const kibibytes = /^VmRSS:\s*(\d+) kB$/m.exec(await readProc(`/proc/${pid}/status`))?.[1];
  return Number(kibibytes ?? 0) * 1024;
}

async function readChildren(pid: number): Promise<number[]> {
  const ids = (await readProc(`/proc/${pid}/task/${pid}/children`)).trim();
  return ids === '' ? [] : ids.split(' ').map(Number);
}

async function readProc(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
