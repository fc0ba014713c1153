import { describe, expect, it } from 'vitest';
import type { HourQuery } from '#shared/accounts/ledger/hour-groups.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';
import { admin, member, openLedger } from '../../../helpers/accounts/open-ledger.ts';

const hour = 3_600_000;
const ada = member('ada', 't1');

async function open(...records: UsageRecord[]) {
  const { write, reader } = await openLedger();
  await write(...records);
  const now = Date.now();
  const read = (query: Partial<HourQuery>) =>
    reader.hours({ viewer: admin, from: now - 2 * hour, to: now, by: 'model', filter: {}, ...query });
  const countsOf = async (query: Partial<HourQuery>) =>
    (await read(query)).groups.map(({ id, steps }) => [id, ...steps.map(({ requests }) => requests)].join(' '));
  return { now, read, countsOf };
}

const ofTeam = { owner: { kind: 'team', id: 't1' }, key: { id: 'k2', name: 'ci' } } as const;
const ofEve = { owner: { kind: 'user', id: 'eve' }, key: { id: 'k3', name: 'eves' } } as const;

describe('hours by group', () => {
  it('have what requests came to, of each hour that has begun in a time', async () => {
    const { now, read, countsOf } = await open(
      ledgerRecord({ cost: 5 }),
      ledgerRecord({ cost: 7, outcome: 'failed', code: 'worker_lost' }),
      ledgerRecord({ at: Date.now() - 2 * hour, model: 'm2' }),
      ledgerRecord({ at: Date.now() - 4 * hour, model: 'm2' }),
    );
    const { times, groups } = await read({});
    const last = Math.floor(now / hour) * hour;
    expect(times).toEqual([last - 2 * hour, last - hour, last]);
    expect(groups.map(({ id, totals }) => [id, totals])).toEqual([
      ['m1', { requests: 2, failed: 1, promptTokens: 20, completionTokens: 10, cost: 12 }],
      ['m2', { requests: 1, failed: 0, promptTokens: 10, completionTokens: 5, cost: 1_000 }],
    ]);
    expect(await countsOf({})).toEqual(['m1 0 0 2', 'm2 1 0 0']);
  });

  it('are by key, team and person, and can be narrowed to some of these', async () => {
    const { countsOf } = await open(ledgerRecord({}), ledgerRecord(ofTeam), ledgerRecord(ofTeam), ledgerRecord(ofEve));
    expect(await countsOf({ by: 'key' })).toEqual(['k2 0 0 2', 'k1 0 0 1', 'k3 0 0 1']);
    expect(await countsOf({ by: 'team' })).toEqual([' 0 0 2', 't1 0 0 2']);
    expect(await countsOf({ by: 'key', filter: { user: 'eve' } })).toEqual(['k3 0 0 1']);
    expect(await countsOf({ by: 'user', filter: { team: 't1' } })).toEqual([' 0 0 2']);
  });

  it('are those that the viewer may see', async () => {
    const { countsOf } = await open(ledgerRecord({}), ledgerRecord(ofTeam), ledgerRecord({ ...ofEve, model: 'm3' }));
    expect(await countsOf({ viewer: ada })).toEqual(['m1 0 0 2']);
    expect(await countsOf({ viewer: ada, by: 'key' })).toEqual(['k1 0 0 1', 'k2 0 0 1']);
    expect(await countsOf({ viewer: member('ada'), by: 'team' })).toEqual([' 0 0 1']);
  });
});
