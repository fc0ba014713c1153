import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of one tick in /proc. */
const tickMs = 10;

/** CPU time and memory of processes and all their children, ended ones included. */
export interface TreeUsage {
  /** CPU time in milliseconds, user and system, so far. */
  cpuMs: number;
  /** Resident memory in bytes now. */
  rssBytes: number;
}

interface ProcessStat {
  pid: number;
  parent: number;
  cpuMs: number;
  rssBytes: number;
}

const pageBytes = 4_096;

/** Reads the usage of these processes and of everything that they started. Ended children count with the parent that awaited them. */
export function treeUsage(roots: readonly number[]): TreeUsage {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readStat(name) : []));
  const children = Map.groupBy(all, ({ parent }) => parent);
  const byPid = new Map(all.map((stat) => [stat.pid, stat]));
  const usage = { cpuMs: 0, rssBytes: 0 };
  const queue = roots.flatMap((pid) => byPid.get(pid) ?? []);
  for (let next = queue.pop(); next; next = queue.pop()) {
    usage.cpuMs += next.cpuMs;
    usage.rssBytes += next.rssBytes;
    queue.push(...(children.get(next.pid) ?? []));
  }
  return usage;
}

/** Reads /proc/<pid>/stat: see proc_pid_stat(5). Empty for a process that has ended in the meantime. */
function readStat(pid: string): ProcessStat[] {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return [];
  }
  // The second field is the program's name in brackets and may contain anything; the third is the first one here.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const number = (field: number): number => Number(fields[field - 3]);
  const ticks = number(14) + number(15) + number(16) + number(17);
  return [{ pid: Number(pid), parent: number(4), cpuMs: ticks * tickMs, rssBytes: number(24) * pageBytes }];
}
