import { expect, it } from 'vitest';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';
import { admin, member, openLedger } from '../../../helpers/accounts/open-ledger.ts';

const day = 86_400_000;
const [ada, eve] = [member('ada', 't1'), member('eve')];

async function open(maxRequests?: number) {
  const ledger = await openLedger(maxRequests === undefined ? {} : { maxRequests });
  const find = async (id: string, viewer = admin): Promise<number[]> =>
    (await ledger.reader.findById(viewer, id)).map(({ completionTokens }) => completionTokens);
  return { ...ledger, find };
}

/** A request with this id. Its number of tokens distinguishes it from others. */
const request = (id: string, completionTokens: number, fields: Partial<UsageRecord> = {}) =>
  ledgerRecord({ id, completionTokens, ...fields });
const some = (count: number) => Array.from({ length: count }, (_, index) => index);
const ofEve = { owner: { kind: 'user', id: 'eve' } } as const;

it('a request is found by its id, also behind the newest pages, together with all others of the same id, newest first', async () => {
  const { write, find } = await open();
  const others = some(1_200).map(() => ledgerRecord({}));
  await write(request('turns', 1), request('one', 2), ...others, request('turns', 3));
  const found = await Promise.all(['one', 'turns', 'none', 'on'].map((id) => find(id)));
  expect(found).toEqual([[2], [3, 1], [], []]);
});

it('a request is found by those who may see it: its owner, the members of its team, administrators', async () => {
  const { write, find } = await open();
  const ofTeam = request('team', 3, { owner: { kind: 'team', id: 't1' } });
  await write(request('shared', 1), request('shared', 2, ofEve), ofTeam, request('router', 4, { owner: undefined }));
  expect([await find('shared', ada), await find('team', ada), await find('router', ada)]).toEqual([[1], [3], []]);
  expect([await find('shared', eve), await find('team', eve)]).toEqual([[2], []]);
  expect([await find('shared'), await find('team'), await find('router')]).toEqual([[2, 1], [3], [4]]);
});

it('a request is found however often somebody else uses its id', async () => {
  const { write, find } = await open();
  await write(request('same', 1), ...some(200).map((index) => request('same', 100 + index, ofEve)));
  expect(await find('same', ada)).toEqual([1]);
  expect(await find('same', eve)).toEqual([299, 298, 297, 296, 295, 294, 293, 292]);
});

it('the index of ids contains all single requests, and little more', async () => {
  const { write, redis, prefix, reader, find } = await open(800);
  // One batch each.
  for (const round of some(30)) await write(...some(100).map((index) => ledgerRecord({ id: `r${round}-${index}` })));
  const names = (await redis.keys(`${prefix}usage:ids:*`)).toSorted();
  expect(names.length).toBeLessThanOrEqual(9);
  const sizes = await Promise.all(names.map((name) => redis.hlen(name)));
  const sum = sizes.reduce((all, size) => all + size, 0);
  expect(sum >= 800 && sum <= 1_800, `${sum}`).toBe(true);
  const { requests } = await reader.listRequests(admin, {}, 800);
  for (const each of [requests[0], requests[199], requests.at(-1)]) expect(await find(each?.id ?? '')).toHaveLength(1);
  expect(await find('r0-0')).toEqual([]);
  for (const name of [`${prefix}usage:ids`, ...names])
    expect(Math.abs((await redis.pttl(name)) - 30 * day)).toBeLessThan(day);
});
