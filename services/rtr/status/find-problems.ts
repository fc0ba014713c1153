import { join } from 'node:path';
import { findOwnCommand } from '../client/lib/own-command.mjs';
import { parseLogEntry } from '../logs/log-entry.ts';
import { toFileName } from '../logs/log-folder.ts';
import { LogReader } from '../logs/log-reader.ts';
import { describeProblem, recoveries } from '../logs/open-problems.ts';
import type { Part } from '../up/children/running-children.ts';
import type { WorkerCounts } from '../up/read-health.ts';
import type { StatusWorker } from './cluster-status.ts';

/** Number of a part's last log lines that are searched. */
const maxLines = 500;

export interface ProblemFacts {
  baseUrl: string;
  /** Folder of the log files. */
  logFolder: string;
  parts: readonly Part[];
  /** Live workers by tier; undefined if the router does not answer. */
  counts: WorkerCounts | undefined;
  workers: readonly StatusWorker[];
}

/** Returns sentences about what does not work: parts that ended, workers that take no jobs, and problems whose end no part has logged. */
export function findProblems({ baseUrl, logFolder, parts, counts, workers }: ProblemFacts): string[] {
  const ended = parts.flatMap(({ name, end }) =>
    end === undefined ? [] : [`${name} ${end}: ${findOwnCommand()} logs "${name}"`],
  );
  const silent = counts === undefined ? [`the router does not answer at ${baseUrl}`] : [];
  const { gpu, cli, cloud } = counts ?? { gpu: 1, cli: 0, cloud: 0 };
  const unserved = gpu + cli + cloud === 0 ? ['no worker serves'] : [];
  const troubled = workers
    .filter(({ state }) => !['serving', 'full', 'draining'].includes(state))
    .map(({ id, state, reason }) => `worker ${id} is ${state}${reason === undefined ? '' : ` (${reason})`}`);
  const logged = parts.flatMap((part) => listOpenProblems(logFolder, part));
  return [...ended, ...silent, ...unserved, ...troubled, ...logged];
}

function listOpenProblems(logFolder: string, { name, startedAt = 0, end }: Part): string[] {
  if (end !== undefined) return [];
  const reader = new LogReader(join(logFolder, toFileName(name)));
  const open = new Map<string, string>();
  const lasting = new Set(recoveries.values());
  for (const line of reader.readLast(maxLines)) {
    const entry = parseLogEntry(line);
    if (entry === undefined || entry.time < startedAt) continue;
    if (lasting.has(entry.msg)) open.set(entry.msg, `${name}: ${describeProblem(entry)}`);
    else open.delete(recoveries.get(entry.msg) ?? '');
  }
  reader.close();
  return [...open.values()];
}
