import { findOwnCommand } from '../client/lib/own-command.mjs';
import type { Part } from '../up/children/running-children.ts';
import { listApiLines } from '../up/start-summary.ts';

/** What `rtr status` reports about the cluster of a folder. */
export interface ClusterStatus {
  version: string;
  /** Process id of `rtr up`. */
  pid: number;
  baseUrl: string;
  chatFormat: string;
  consoleUrl: string;
  /** A new link for the first administrator; absent if there is an administrator, or if it was not asked for. */
  adminLink?: string | undefined;
  /** The usable router keys in masked form. */
  keys: readonly string[];
  parts: readonly Part[];
  workers: readonly StatusWorker[];
  models: readonly string[];
  /** Sentences about what does not work. */
  problems: readonly string[];
}

export interface StatusWorker {
  id: string;
  tier: string;
  state: string;
  reason?: string;
}

/** Models that are named; a cloud provider may have hundreds. */
const maxNamed = 12;

/** Formats a status for a person. */
export function formatStatus(status: ClusterStatus, now: number): string {
  const { version, pid, baseUrl, chatFormat, consoleUrl, adminLink, keys, parts, workers, models, problems } = status;
  const nameWidth = Math.max(0, ...parts.map(({ name }) => name.length));
  const tiers = Map.groupBy(workers, ({ tier }) => tier);
  return [
    `Model Router ${version} is running (process ${pid}).`,
    '',
    ...listApiLines(baseUrl, chatFormat),
    ...list('key', [shorten(keys, 3), `another one: ${findOwnCommand()} keys create --name <name>`]),
    ...list(
      'console',
      adminLink === undefined
        ? [consoleUrl]
        : [adminLink, 'open it within 24 hours to become the first administrator; earlier links end'],
    ),
    ...list(
      'parts',
      parts.map(({ name, pid, startedAt, end }) =>
        end === undefined
          ? `${name.padEnd(nameWidth)}  process ${pid}${startedAt === undefined ? '' : `, for ${formatDuration(now - startedAt)}`}`
          : `${name.padEnd(nameWidth)}  ${end}`,
      ),
    ),
    ...list(
      'workers',
      [...tiers].map(([tier, members]) => `${tier.padEnd(5)}  ${shorten(members.map(({ id }) => id))}`),
    ),
    ...list('models', [shorten(models)]),
    ...list('problems', problems.length === 0 ? ['none'] : problems),
  ].join('\n');
}

function list(title: string, lines: readonly string[]): string[] {
  return (lines.length === 0 ? ['none'] : lines).map((line, i) => `  ${(i === 0 ? title : '').padEnd(8)}  ${line}`);
}

function shorten(names: readonly string[], max = maxNamed): string {
  if (names.length === 0) return 'none';
  const rest = names.length - max;
  return rest > 0 ? `${names.slice(0, max).join(', ')} and ${rest} more` : names.join(', ');
}

/** Returns a duration such as `2 h 5 min`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
