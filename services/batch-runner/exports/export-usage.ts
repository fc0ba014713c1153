import type { AlertStates } from '#shared/accounts/webhooks/alerts/alert-states.ts';
import { nameRequests, type FindNames } from '#shared/accounts/ledger/name-requests.ts';
import { usageCsvHead, toUsageCsvLine } from '#shared/accounts/ledger/usage-csv.ts';
import type { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord, UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { TeamRecord, TeamStore } from '#shared/accounts/people/team-store.ts';
import { findBeginning, findNextBeginning, toPeriodName } from '#shared/accounts/periods.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Files } from '#shared/files/files.ts';
import { openaiFiles } from '#shared/formats/openai/openai-files.ts';

const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;

/** Milliseconds for which the files are kept, a little more than a year, unless a setting shortens the life of all files. */
const fileKeptMs = 400 * dayMs;

/** Purpose of files with usage, as their records and lists show it. */
const purpose = 'usage_export';

/** Number of requests per page. The names of a page are found together, and its lines are written together. */
const pageSize = 200;

/** Exports contain everybody's usage, as an administrator sees it. */
const administratorView: UsageViewer = { userId: '', isAdmin: true, keyIds: [], teamIds: [] };

const kind = 'usage-exports';
const field = 'day';

export interface UsageExportParts {
  /** Name or id of the team that gets the files; if undefined, there are no exports. */
  team: string | undefined;
  /** Hour of the day (UTC) from which the file of the day before is written. */
  hour: number;
  teams: Pick<TeamStore, 'list'>;
  usage: Pick<UsageReader, 'export' | 'readReport'>;
  findNames: FindNames;
  files: Pick<Files, 'add' | 'delete'>;
  states: AlertStates;
  /** Milliseconds for which the ledger keeps single requests. */
  requestsKeptMs: number;
  log: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Writes the usage of each completed day into a file of a team, once in the cluster, and reports the file by an event. Days on which no
 * runner ran are exported later, if the ledger still has their requests. The first call in a cluster exports only the day before.
 * @throws Error if the team does not exist or its name is ambiguous; RouterError as `Files.add` does
 */
export async function exportUsage(parts: UsageExportParts, now = Date.now()): Promise<void> {
  const { team: teamSetting, hour, states, requestsKeptMs } = parts;
  if (teamSetting === undefined) return;
  const lastDay = findBeginning('day', now - hour * hourMs) - dayMs;
  const lastExported = (await states.readAll(kind)).get(field);
  const nextDay = lastExported === undefined ? lastDay : findNextBeginning('day', Date.parse(lastExported));
  const firstDay = Math.max(nextDay, findBeginning('day', now - requestsKeptMs));
  if (firstDay > lastDay) return;
  const team = await findTeam(parts.teams, teamSetting);
  let exported = lastExported;
  for (let day = firstDay; day <= lastDay; day += dayMs) {
    if (!(await exportDay(parts, team, day, exported))) return;
    exported = toPeriodName('day', day);
  }
}

/** @returns false if another runner has exported the day meanwhile */
async function exportDay(
  { usage, files, states, findNames, log }: UsageExportParts,
  team: TeamRecord,
  from: number,
  lastExported: string | undefined,
): Promise<boolean> {
  const day = toPeriodName('day', from);
  const to = from + dayMs;
  // The totals are read before the file is written, because the file would stay if this read failed.
  const report = { viewer: administratorView, from, to, step: 'day', by: 'tier', filter: {} } as const;
  const { requests } = (await usage.readReport(report)).totals;
  let writtenCount = 0;
  const records = countItems(usage.export(administratorView, {}, from, to), () => {
    writtenCount += 1;
  });
  const name = `usage-${day}.csv`;
  const description = { purpose, name, mimeType: 'text/csv', expiresAfterMs: fileKeptMs };
  const file = await files.add(team.id, toCsv(records, nameRequests(findNames)), description, { isResult: true });
  const missing = Math.max(0, requests - writtenCount);
  const event = {
    id: createEventId(),
    type: 'rtr.usage.exported',
    owners: [`team:${team.id}`, 'router'],
    data: { id: openaiFiles.shownId(file.id), day, requests: writtenCount, missing },
  } as const;
  if (!(await states.change({ kind, field, from: lastExported, to: day, event }))) {
    await files.delete(team.id, file.id);
    return false;
  }
  const facts = { day, team: team.name, file: file.id, requests: writtenCount, missing };
  if (missing === 0) log.info(facts, 'the usage of a day was exported');
  else log.warn(facts, 'requests are missing in an export of usage: the ledger does not keep enough single requests');
  return true;
}

async function findTeam(teams: Pick<TeamStore, 'list'>, idOrName: string): Promise<TeamRecord> {
  const found = (await teams.list()).filter(({ id, name }) => id === idOrName || name === idOrName);
  const [onlyTeam] = found;
  if (onlyTeam && found.length === 1) return onlyTeam;
  const reason = onlyTeam ? 'several teams have this name: give the id of one of them' : 'there is no such team';
  throw new Error(`usage cannot be exported to ${idOrName}, see USAGE_EXPORT_TEAM: ${reason}`);
}

async function* countItems<T>(items: AsyncIterable<T>, count: () => void): AsyncGenerator<T> {
  for await (const item of items) {
    count();
    yield item;
  }
}

async function* toCsv(
  records: AsyncIterable<UsageRecord>,
  nameRecords: ReturnType<typeof nameRequests>,
): AsyncGenerator<Uint8Array> {
  const toLines = async (pageRecords: readonly UsageRecord[]): Promise<Buffer> =>
    Buffer.from((await nameRecords(pageRecords)).map(toUsageCsvLine).join(''));
  yield Buffer.from(usageCsvHead);
  let page: UsageRecord[] = [];
  for await (const record of records) {
    page.push(record);
    if (page.length < pageSize) continue;
    yield toLines(page);
    page = [];
  }
  yield toLines(page);
}
