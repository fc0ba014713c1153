import { describe, expect, it, vi } from 'vitest';
import { FileRecords } from '#shared/accounts/files/file-records.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { partyNames } from '#shared/accounts/people/party-names.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { Files } from '#shared/files/files.ts';
import { exportUsage, type UsageExportParts } from '#services/batch-runner/exports/export-usage.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';
import { writeLedger } from '../../../helpers/accounts/open-ledger.ts';
import { allOf } from '../../../helpers/files/bytes.ts';
import { openObjects } from '../../../helpers/files/open-objects.ts';
import { openTestWebhooks } from '../../../helpers/webhooks/open-test-webhooks.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const dayMs = 86_400_000;
const today = Math.floor(Date.now() / dayMs) * dayMs;
const nameOf = (day: number): string => `usage-${new Date(day).toISOString().slice(0, 10)}.csv`;

const record = (at: number, fields: Partial<UsageRecord> = {}) =>
  ledgerRecord({ id: 'r1', at, owner: undefined, ...fields });

/** Opens a ledger with these requests, and a team Finance that gets the exports. */
async function open(requests: readonly UsageRecord[]) {
  const webhooks = await openTestWebhooks();
  const { accounts, redis, prefix, add, states } = webhooks;
  await writeLedger(webhooks, requests);
  const team = await accounts.teams.create('Finance');
  const bounds = { ownerBytes: 1_000, totalBytes: 1_000_000 };
  const records = new FileRecords(redis, prefix, { bounds, report: () => undefined });
  const { store } = await openObjects();
  const files = new Files({ records, store, fileBytes: 1_000_000, fileLines: 10, log: silentLog });
  const warnings: unknown[] = [];
  const parts: UsageExportParts = {
    team: 'Finance',
    hour: 1,
    teams: accounts.teams,
    usage: new UsageReader(redis, prefix),
    findNames: (parties) => partyNames(accounts, parties),
    files,
    states,
    requestsKeptMs: 30 * dayMs,
    log: { info: () => undefined, warn: (facts: unknown) => void warnings.push(facts) },
  };
  const { endpoint } = await add('https://a.example.com', { owner: `team:${team.id}`, events: ['rtr.usage.*'] });
  const listed = async () => (await files.list(team.id, { newestFirst: false, limit: 100 }))?.files ?? [];
  return { redis, prefix, team, parts, files, warnings, listed, sent: () => webhooks.sent(endpoint.id) };
}

describe('the usage of a day', () => {
  it('is written into one file of the team once the hour has come, however many runners try, and reported', async () => {
    const yesterday = today - dayMs;
    const { team, parts, files, listed, sent } = await open([
      record(yesterday - 1, { id: 'before' }),
      record(yesterday, { id: 'first' }),
      record(today - 1, { id: 'last', owner: { kind: 'team', id: 'gone' } }),
      record(today, { id: 'after' }),
    ]);
    await exportUsage({ ...parts, team: undefined }, today + dayMs - 1);
    const twoDaysAgo = nameOf(yesterday - dayMs);
    await exportUsage(parts, today + 3_599_999);
    expect((await listed()).map(({ name }) => name)).toEqual([twoDaysAgo]);
    await Promise.all([1, 2, 3].map(() => exportUsage(parts, today + 3_600_000)));
    await exportUsage(parts, today + dayMs - 1);
    const found = await listed();
    expect(found.map(({ name }) => name)).toEqual([twoDaysAgo, nameOf(yesterday)]);
    const [, file] = found;
    expect(file).toMatchObject({ purpose: 'usage_export', mimeType: 'text/csv', expiresAt: expect.any(Number) });
    const text = file && (await allOf(await files.read(file)))?.toString();
    const [head, ...lines] = (text ?? '').trimEnd().split('\r\n');
    expect(head).toContain('id,at,key_id,key_name,owner_kind,owner_id,owner_name');
    expect(lines.map((line) => line.split(',').slice(0, 7))).toEqual([
      ['first', new Date(yesterday).toISOString(), 'k1', 'laptop', '', '', ''],
      ['last', new Date(today - 1).toISOString(), 'k1', 'laptop', 'team', 'gone', 'gone'],
    ]);
    const [, event] = await sent();
    const day = new Date(yesterday).toISOString().slice(0, 10);
    const data = { id: `file-${file?.id}`, day, requests: 2, missing: 0 };
    expect(event).toMatchObject({ type: 'rtr.usage.exported', data });
    expect(await sent()).toHaveLength(2);
    expect(await files.find(team.id, file?.id ?? '')).toEqual(file);
  });

  it('is made up for when no runner ran on the day after', async () => {
    const { parts, listed } = await open([record(today)]);
    await exportUsage(parts, today + 3_600_000);
    await exportUsage(parts, today + 3 * dayMs + 3_600_000);
    const names = (await listed()).map(({ name }) => name);
    expect(names).toEqual([today - dayMs, today, today + dayMs, today + 2 * dayMs].map(nameOf));
  });

  it('is reported with the number of requests that the ledger no longer has singly', async () => {
    const yesterday = today - dayMs;
    const { parts, sent, warnings, redis, prefix } = await open([1, 2, 3].map((at) => record(yesterday + at)));
    await redis.xtrim(`${prefix}usage:requests`, 'MAXLEN', 1);
    await exportUsage(parts, today + 3_600_000);
    expect(await sent()).toMatchObject([{ data: { requests: 1, missing: 2 } }]);
    expect(warnings).toHaveLength(1);
  });

  it('leaves no file when the ledger cannot count the requests', async () => {
    const { parts, listed } = await open([record(today - dayMs)]);
    vi.spyOn(parts.usage, 'readReport').mockRejectedValueOnce(createStoreUnavailableError('away'));
    await expect(exportUsage(parts, today + 3_600_000)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await listed()).toEqual([]);
    await exportUsage(parts, today + 3_600_000);
    expect(await listed()).toHaveLength(1);
  });

  it('is an error that names the setting if the team does not exist', async () => {
    const { parts, listed } = await open([]);
    const other = exportUsage({ ...parts, team: 'Nobody' }, today + 3_600_000);
    await expect(other).rejects.toThrow(/Nobody.*USAGE_EXPORT_TEAM.*no such team/);
    expect(await listed()).toEqual([]);
  });
});
