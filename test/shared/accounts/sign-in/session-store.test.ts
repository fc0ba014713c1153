import { describe, expect, it } from 'vitest';
import { makeAdmin, openKeyStore } from '../../../helpers/accounts/open-key-store.ts';

/** A session that a provider has opened for a person. `change` happens while the provider is asked. */
async function start(change: (open: Awaited<ReturnType<typeof openKeyStore>>, id: string) => Promise<unknown>) {
  const open = await openKeyStore();
  const { sessions } = open.accounts;
  const ada = await makeAdmin(open);
  const id = (await sessions.open(ada, { provider: 'company' })) ?? '';
  expect(await sessions.find(id)).toMatchObject({ id: ada.id, role: 'admin' });
  sessions.setConfirm(async () => {
    await change(open, ada.id);
    return 'confirmed';
  });
  return { sessions, id };
}

describe('a session of somebody whose provider is asked', () => {
  it('returns the person as changed by the answer of the provider', async () => {
    // The last administrator stays one, by rights: written by hand.
    const { sessions, id } = await start(({ connection, prefix }, userId) =>
      connection.redis.hset(`${prefix}user:${userId}`, 'role', 'member'),
    );
    expect(await sessions.find(id)).toMatchObject({ role: 'member' });
  });

  it('has ended when its person is blocked or signed out meanwhile', async () => {
    const blocked = await start(({ connection, prefix }, userId) =>
      connection.redis.hset(`${prefix}user:${userId}`, 'blockedAt', 1),
    );
    expect(await blocked.sessions.find(blocked.id)).toBeUndefined();
    const signedOut = await start(({ accounts }, userId) => accounts.users.endSessions(userId));
    expect(await signedOut.sessions.find(signedOut.id)).toBeUndefined();
  });
});
