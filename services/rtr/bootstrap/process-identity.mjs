import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * What tells a process from a later one that got the same number: its start time. Undefined when no such process runs.
 * @param {number} pid
 * @returns {string | undefined}
 */
export function processIdentity(pid) {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout?.trim() || undefined;
  }
  try {
    // proc_pid_stat(5): the program's name, which may hold blanks, is in brackets; the state follows, and 19 fields later the start time.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
