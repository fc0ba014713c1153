import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { removals, removeAllOfOwner } from '#shared/accounts/owned-store/owned-kinds.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();

/** Folders of accounts whose content `deletePerson` and `deleteTeam` remove with the record of a person, a team or a key. */
const removedWithRecord = [
  'admin-tokens',
  'connections',
  'external-accounts',
  'keys',
  'people',
  'programs',
  'second-factor',
  'sign-in',
];

/** Folders of accounts whose content stays after its owner, for reports, or until it expires. */
const keptAfterOwner = ['alert-mails', 'alerts', 'ledger', 'limits', 'refusals'];

/** Folders of accounts that store nothing of owners. */
const withoutOwner = [
  'answer-journal',
  'credentials',
  'owned-store',
  'prices',
  'redis',
  'registry-versions',
  'secrets',
  'token-issuers',
];

it('every kind of thing that accounts store is removed with its owner, or named among those that are not', () => {
  const folders = readdirSync('shared/accounts', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const known = [...Object.keys(removals), ...removedWithRecord, ...keptAfterOwner, ...withoutOwner];
  expect(folders.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
});

it.each(['user', 'team', 'key'] as const)(
  'a removed owner of the kind %s leaves only marks that expire',
  async (kind) => {
    const { redis, prefix } = open;
    await removeAllOfOwner(redis, prefix, { kind, id: 'ada' });
    const left = (await redis.keys(`${prefix}*`)).map((name) => name.slice(prefix.length));
    expect(left.toSorted()).toEqual(['files-refused:ada', 'recording-refused:ada', 'stored-refused:ada']);
    for (const name of left) expect(await redis.pttl(`${prefix}${name}`)).toBeGreaterThan(0);
  },
);
