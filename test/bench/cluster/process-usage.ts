import { readFileSync } from 'node:fs';

/** Milliseconds of one tick in /proc: Linux reports times in hundredths of a second on every architecture. */
const tickMs = 10;

/** CPU time of a process so far in milliseconds, user and system, over all its threads, ended ones included. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field is the program's name in brackets and may hold anything; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** CPU time of the whole machine so far in milliseconds, over all cores: of programs, and in all. */
export function machineMs(): { programs: number; all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'latin1').split('\n');
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softIrq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) * tickMs);
  // Time that another machine on the same hardware stole is as little ours as time that other programs took.
  const programs = user + nice + system + steal;
  return { programs, all: programs + idle + waiting + irq + softIrq };
}

export function rssBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kibibytes) * 1024;
}
