import { expect, it } from 'vitest';
import { makeAdmin, openKeyStore, type OpenKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { passTime } from '../../../helpers/pass-time.ts';

/** The last administrator stays one, by rights: written by hand. */
const set =
  (...field: [name: string, value: string]) =>
  ({ redis, prefix }: OpenKeyStore, id: string): Promise<unknown> =>
    redis.hset(`${prefix}user:${id}`, ...field);
const signOut = ({ accounts }: OpenKeyStore, id: string): Promise<unknown> => accounts.users.endSessions(id);

it.each([
  ['is that of the person as they are after it', set('role', 'member'), { role: 'member' }],
  ['has ended when its person is blocked meanwhile', set('blockedAt', '1'), undefined],
  ['has ended when its person is signed out meanwhile', signOut, undefined],
])('a session whose provider is asked %s', async (_, change, found) => {
  const open = await openKeyStore();
  const { sessions } = open.accounts;
  const ada = await makeAdmin(open);
  const id = (await sessions.open(ada, { provider: 'company' })) ?? '';
  expect(await sessions.find(id)).toMatchObject({ id: ada.id, role: 'admin' });
  sessions.setConfirm(async () => {
    await change(open, ada.id);
    return 'confirmed';
  });
  expect([await sessions.find(id)]).toMatchObject([found]);
});

it('a session that is used all the time is open for 30 days, and then ends for open pages as well', async () => {
  const open = await openKeyStore();
  const { sessions } = open.accounts;
  const id = (await sessions.open(await makeAdmin(open))) ?? '';
  passTime(30 * 24 * 3_600_000 - 60_000);
  expect(await sessions.isOpen(id)).toBe(true);
  passTime(61_000);
  expect(await sessions.isOpen(id)).toBe(false);
});
