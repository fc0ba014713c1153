import { describe, expect, it, vi } from 'vitest';
import { maxBoxInvitations } from '#shared/accounts/boxes/box-invitation-store.ts';
import { makeAdmin, useKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { made } from '../../../helpers/accounts/made.ts';

const hourMs = 3_600_000;
const here = useKeyStore();

const invite = async (name?: string, usableMs = hourMs, invitedBy?: string) =>
  made(await here.accounts.boxInvitations.create({ tiers: ['gpu'], name, usableMs, invitedBy }));

describe('an invitation of a box', () => {
  it('is bound to the first key that redeems it, which may repeat that', async () => {
    const { boxInvitations } = here.accounts;
    const { secret, invitation } = await invite('joes-box');
    expect(await boxInvitations.list()).toEqual([invitation]);
    expect(await boxInvitations.redeem(secret, 'UA')).toMatchObject({ id: invitation.id, key: 'UA', name: 'joes-box' });
    expect(await boxInvitations.redeem(secret, 'UB')).toBe('used');
    await boxInvitations.noteJoined(invitation.id, { box: 'joes-box', tokens: { gpu: 'ey' } });
    expect(await boxInvitations.redeem(secret, 'UA')).toMatchObject({ box: 'joes-box', tokens: { gpu: 'ey' } });
    expect(await boxInvitations.redeem(secret, 'UB')).toBe('used');
    expect(await boxInvitations.list()).toMatchObject([{ id: invitation.id, box: 'joes-box' }]);
  });

  it('is bound to one key, however many redeem it at once', async () => {
    const { secret } = await invite();
    const keys = Array.from({ length: 20 }, (_, at) => `U${at}`);
    const outcomes = await Promise.all(keys.map((key) => here.accounts.boxInvitations.redeem(secret, key)));
    expect(outcomes.filter((outcome) => outcome === 'used')).toHaveLength(19);
  });

  it('says for a day after its time that it has expired', async () => {
    const { boxInvitations } = here.accounts;
    const { secret, invitation } = await invite('joes-box', hourMs);
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: now + hourMs + 1_000 });
    try {
      expect(await boxInvitations.redeem(secret, 'UA')).toBe('expired');
      expect(await boxInvitations.list()).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
    const keptMs = await here.redis.pttl(`${here.prefix}box-invitation:${invitation.id}`);
    expect(Math.abs(keptMs - 25 * hourMs)).toBeLessThan(60_000);
  });

  it('is unknown after it was withdrawn, also to the box that asks for its answer then', async () => {
    const { boxInvitations } = here.accounts;
    const { secret, invitation } = await invite();
    await boxInvitations.redeem(secret, 'UA');
    await boxInvitations.delete(invitation.id);
    await boxInvitations.noteJoined(invitation.id, { box: 'joes-box', tokens: {} });
    expect(await boxInvitations.redeem(secret, 'UA')).toBe('unknown');
    expect(await boxInvitations.list()).toEqual([]);
    expect(await here.redis.keys(`${here.prefix}box-invitation*`)).toEqual([]);
    for (const wrong of ['', 'x', 'A'.repeat(43), invitation.id])
      expect(await boxInvitations.redeem(wrong, 'UA')).toBe('unknown');
  });

  it('is void while its administrator is blocked, and one of nobody is not', async () => {
    const { boxInvitations, users } = here.accounts;
    const ada = await makeAdmin(here);
    const ofAda = await invite('ada', hourMs, ada.id);
    const ofNobody = await invite('nobody', hourMs);
    const ofDeleted = await invite('deleted', hourMs, 'gone');
    expect(await boxInvitations.redeem(ofDeleted.secret, 'UA')).toBe('unknown');
    await here.redis.hset(`${here.prefix}user:${ada.id}`, 'blockedAt', '1');
    expect((await users.find(ada.id))?.blockedAt).toBe(1);
    expect(await boxInvitations.redeem(ofAda.secret, 'UA')).toBe('unknown');
    await here.redis.hdel(`${here.prefix}user:${ada.id}`, 'blockedAt');
    await here.redis.hset(`${here.prefix}user:${ada.id}`, 'role', 'member');
    expect(await boxInvitations.redeem(ofAda.secret, 'UA')).toBe('unknown');
    await here.redis.hset(`${here.prefix}user:${ada.id}`, 'role', 'admin');
    expect(await boxInvitations.redeem(ofAda.secret, 'UA')).toMatchObject({ name: 'ada' });
    expect(await boxInvitations.redeem(ofNobody.secret, 'UA')).toMatchObject({ name: 'nobody' });
  });

  it('is refused while there are too many, until some have expired or are withdrawn', async () => {
    const { boxInvitations } = here.accounts;
    const soon = Date.now() + hourMs;
    await here.redis.zadd(
      `${here.prefix}box-invitations`,
      ...Array.from({ length: maxBoxInvitations - 1 }, (_, at) => [soon, `id${at}`]).flat(),
    );
    await invite();
    const refused = { tiers: ['gpu'], usableMs: hourMs, invitedBy: undefined } as const;
    expect(await boxInvitations.create(refused)).toBeUndefined();
    await boxInvitations.delete('id0');
    await invite();
    expect(await boxInvitations.create(refused)).toBeUndefined();
    await here.redis.zadd(`${here.prefix}box-invitations`, Date.now() - 1, 'id1');
    await invite();
  });

  it('keeps its secret nowhere', async () => {
    const { secret, invitation } = await invite();
    const stored = await here.redis.hgetall(`${here.prefix}box-invitation:${invitation.id}`);
    expect(JSON.stringify([stored, await here.redis.keys(`${here.prefix}*`)])).not.toContain(secret);
  });
});
