import { readFile } from 'node:fs/promises';

const pageBytes = 4096;

/**
 * Returns the resident bytes of a process and all its descendants, from Linux's `/proc`. Returns 0 on other systems, and for a process that
 * has ended.
 */
export async function readMemory(pid: number): Promise<number> {
  const [own, children] = await Promise.all([residentBytes(pid), childrenOf(pid)]);
  const below = await Promise.all(children.map(readMemory));
  return below.reduce((sum, bytes) => sum + bytes, own);
}

async function residentBytes(pid: number): Promise<number> {
  const pages = (await readProc(`/proc/${pid}/statm`)).split(' ')[1];
  return Number(pages ?? 0) * pageBytes;
}

async function childrenOf(pid: number): Promise<number[]> {
  const ids = (await readProc(`/proc/${pid}/task/${pid}/children`)).trim();
  return ids === '' ? [] : ids.split(' ').map(Number);
}

async function readProc(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
