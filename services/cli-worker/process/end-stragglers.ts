import { readdir, readFile } from 'node:fs/promises';

/** Times to look for processes: one that is about to be killed may still start another. */
const mostLooks = 5;

/**
 * Kills the processes with this home folder that are left: what a CLI has started in a session of its own is not in its process
 * group, and outlives it. Only where the system shows the environments of processes (`/proc`).
 * @param home folder that no other program has for its home
 */
export async function endStragglers(home: string): Promise<void> {
  for (let look = 0; look < mostLooks; look += 1) {
    const left = await processesAt(home);
    if (left.length === 0) return;
    for (const pid of left) kill(pid);
  }
}

async function processesAt(home: string): Promise<number[]> {
  const names = await readdir('/proc').catch((): string[] => []);
  const found = await Promise.all(
    names.map(async (name) => {
      if (!/^\d+$/.test(name)) return [];
      // Of a process that has ended, or of another user, there is nothing to read.
      const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(`HOME=${home}`) ? [Number(name)] : [];
    }),
  );
  return found.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has ended between the look and the kill.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
