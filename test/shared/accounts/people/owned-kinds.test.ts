import { readdirSync } from 'node:fs';
import { relative } from 'node:path';
import { expect, it } from 'vitest';
import { removals, removeAllOfOwner } from '#shared/accounts/people/owned-kinds.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();

/** Folders of accounts whose content `deletePerson` and `deleteTeam` remove with the record of a person, a team or a key. */
const removedWithRecord = [
  'connections',
  'keys',
  'keys/admin-tokens',
  'people',
  'sign-in',
  'sign-in/external-accounts',
  'sign-in/programs',
  'sign-in/second-factor',
];

/** Folders of accounts whose content stays after its owner, for reports, or until it expires. */
const keptAfterOwner = ['boxes', 'ledger', 'ledger/refusals', 'limits', 'webhooks/alert-mails', 'webhooks/alerts'];

/** Folders of accounts that store nothing of owners. */
const withoutOwner = ['prices', 'registry-versions', 'sign-in/token-issuers'];

it('every kind of thing that accounts store is removed with its owner, or named among those that are not', () => {
  const files = readdirSync('shared/accounts', { withFileTypes: true, recursive: true });
  const folders = new Set(
    files.flatMap(({ name, parentPath }) => (name.endsWith('.ts') ? relative('shared/accounts', parentPath) : [])),
  );
  folders.delete('');
  const known = [...Object.keys(removals), ...removedWithRecord, ...keptAfterOwner, ...withoutOwner];
  expect([...folders].toSorted()).toEqual(known.toSorted());
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

it('recordings of an earlier release are removed with their owner', async () => {
  const { redis, prefix } = open;
  const content = `${prefix}recordings:recording:ada/request-1`;
  await redis.hset(content, 'facts', 'sealed');
  await redis.hset(`${prefix}recordings:entries-of:ada`, 'request-1', '100 user:ada');
  await removeAllOfOwner(redis, prefix, { kind: 'user', id: 'ada' });
  expect(await redis.keys(`${prefix}recordings:*`)).toEqual([]);
});
