import { readdir, readFile } from 'node:fs/promises';

/** Maximum number of searches for processes. Several are needed, because a process may start another one before it is killed. */
const maxSearches = 5;

/**
 * Kills the remaining processes with this home folder. A process that a CLI has started in a session of its own is not in the CLI's process
 * group, and outlives that group. This works only if the system shows the environments of processes (`/proc`).
 * @param home folder that is the home of no other program
 */
export async function endStragglers(home: string): Promise<void> {
  for (let search = 0; search < maxSearches; search += 1) {
    const remaining = await findProcesses(home);
    if (remaining.length === 0) return;
    for (const pid of remaining) kill(pid);
  }
}

async function findProcesses(home: string): Promise<number[]> {
  const names = await readdir('/proc').catch((): string[] => []);
  const found = await Promise.all(
    names.map(async (name) => {
      if (!/^\d+$/.test(name)) return [];
      // The environment of an ended process, or of another user's, cannot be read.
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
    // The process ended between the search and the kill.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
