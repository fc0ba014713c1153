import { describe, expect, it } from 'vitest';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { RefusedKey } from '#shared/accounts/keys/invalid-key-error.ts';
import { RefusalLedger } from '#shared/accounts/ledger/refusals/refusal-ledger.ts';
import { RefusalReader } from '#shared/accounts/ledger/refusals/refusal-reader.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import { refusalOperations } from '#services/console/api/usage/refusal-operations.ts';
import type { RefusalReport } from '#services/console/contract/refusals.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { people, serveOperations, type Viewer } from '../../../../helpers/console/serve-operations.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

const laptop: RefusedKey = { id: 'k1', kind: 'user', name: 'laptop', ownerId: 'ada' };
const ofTeam: RefusedKey = { id: 'k2', kind: 'team', name: 'ci', ownerId: 't1' };
const ofDeleted: RefusedKey = { id: 'k3', kind: 'user', name: 'private matters', ownerId: 'gone1234' };

/** The routes on a server of their own, with these refusals counted. */
async function openApi(...refused: [ErrorCode, RefusedKey?][]) {
  const { redis, prefix } = await openKeyStore();
  const ledger = new RefusalLedger(redis, prefix, silentLog);
  for (const [code, key] of refused)
    ledger.add({ requestId: 'req_1', error: new RouterError(code, 'Why.'), key, asked: 'demo' });
  await ledger.close();
  const { ask, read } = await serveOperations(
    refusalOperations({ usage: new UsageReader(redis, prefix), refusals: new RefusalReader(redis, prefix), ...people }),
  );
  return {
    get: (query: string) => ask(`/usage/refusals?${query}`),
    read: (query: string, viewer?: Viewer) => read<RefusalReport>(`/usage/refusals?${query}`, viewer),
  };
}

const range = () => `from=${Date.now() - 3_600_000}&to=${Date.now() + 60_000}`;

describe('GET /usage/refusals', () => {
  it('answers the counts by reason, with the names of keys and owners, and samples', async () => {
    const { read } = await openApi(['rate_limit_exceeded', laptop], ['rate_limit_exceeded', ofTeam], ['missing_key']);
    const report = await read(range());
    expect(report).toMatchObject({ step: 'day', total: 3 });
    expect(report.groups[0]).toMatchObject({ id: 'rate_limit_exceeded', name: 'rate_limit_exceeded', count: 2 });
    const row = { code: 'rate_limit_exceeded', count: 1 };
    expect(report.groups[0]?.rows.toSorted((a, b) => (a.key?.id ?? '').localeCompare(b.key?.id ?? ''))).toEqual([
      { ...row, key: { id: 'k1', name: 'laptop' }, owner: { kind: 'user', id: 'ada', name: 'Ada' } },
      { ...row, key: { id: 'k2', name: 'ci' }, owner: { kind: 'team', id: 't1', name: 'Research' } },
    ]);
    expect(report.groups[1]?.rows).toEqual([{ code: 'missing_key', count: 1 }]);
    const sample = report.samples.find(({ code }) => code === 'missing_key');
    expect(sample).toMatchObject({ id: 'req_1', status: 401, model: 'demo', message: 'Why.' });
    expect(sample).not.toHaveProperty('key');
    const byTeam = await read(`${range()}&by=team&step=hour`);
    expect(byTeam.groups.map(({ name, count }) => `${name} ${count}`)).toEqual(['none 2', 'Research 1']);
  });

  it('shows members their own refusals and those of their teams, and others nothing', async () => {
    const { read } = await openApi(['permission_denied', laptop], ['permission_denied', ofDeleted], ['missing_key']);
    expect(await read(range(), 'ada')).toMatchObject({ total: 1, samples: [{ key: { id: 'k1' } }] });
    expect(await read(range(), 'stranger')).toMatchObject({ total: 0, groups: [], samples: [] });
  });

  it('shows a pseudonym for a deleted person and for the name of their key', async () => {
    const { read } = await openApi(['permission_denied', ofDeleted]);
    const report = await read(`${range()}&by=key`);
    expect(report.groups).toMatchObject([{ id: 'k3', name: 'deleted person gone', count: 1 }]);
    expect(report.samples).toMatchObject([{ owner: { name: 'deleted person gone' } }]);
    expect(JSON.stringify(report)).not.toContain('private matters');
  });

  it('refuses a wrong query with the name of the field', async () => {
    const { get } = await openApi();
    const fields = { 'from=2&to=1': 'to', 'from=0&to=1e12&step=hour': 'from', 'to=1': 'from' };
    const ofGroups = { 'from=0&to=1&by=model': 'by', 'from=0&to=1&step=week': 'step' };
    for (const [query, field] of Object.entries({ ...fields, ...ofGroups })) {
      const answer = await get(query);
      expect([answer.status, await answer.json()], query).toMatchObject([400, { error: { field } }]);
    }
  });
});
