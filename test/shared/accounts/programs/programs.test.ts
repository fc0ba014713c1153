import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { tokenHash } from '#shared/accounts/people/secret-token.ts';
import { issued, openPrograms, type OpenPrograms } from '../../../helpers/accounts/open-programs.ts';

const asked = { client: 'Claude Code', address: '192.0.2.1' };

let open: OpenPrograms;

beforeEach(async () => {
  open = await openPrograms(inject('redisUrl'));
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets time pass for the router; Redis's own clock goes on as it is. */
function pass(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}

/** Puts the stored program back to where it was when it was signed in, as a replica that takes over may. */
async function loseRefreshes({ programId }: { programId: string }): Promise<void> {
  const name = `${open.prefix}program:${programId}`;
  await open.connection.redis.multi().hset(name, 'generation', 0).hdel(name, 'rotatedAt').exec();
}

describe('the sign-in of a program', () => {
  it('waits for a person, and is polled no faster than every two seconds', async () => {
    const { devices } = open.programs;
    const { deviceCode, userCode } = await devices.begin(asked);
    expect(userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(await open.programs.claim(deviceCode)).toEqual({ state: 'pending' });
    expect(await open.programs.claim(deviceCode)).toEqual({ state: 'slow down' });
    // Each time, it has to wait for five seconds more.
    pass(2_000);
    expect(await open.programs.claim(deviceCode)).toEqual({ state: 'slow down' });
    pass(12_000);
    expect(await open.programs.claim(deviceCode)).toEqual({ state: 'pending' });
  });

  it('is found by its code in any spelling, and approved once', async () => {
    const { devices } = open.programs;
    const { deviceCode, userCode } = await devices.begin(asked);
    expect(await devices.find(` ${userCode.toLowerCase().replace('-', ' ')}`)).toMatchObject(asked);
    expect(await devices.approve(userCode, open.ada, undefined)).toBe(true);
    expect(await devices.find(userCode)).toBeUndefined();
    expect(await devices.deny(userCode)).toBe(false);
    expect(await open.programs.claim(deviceCode)).toMatchObject({ state: 'issued', userId: open.ada.id });
    expect(await open.programs.store.listOf(open.ada.id)).toMatchObject([asked]);
  });

  it('whose answer was lost gets the same program for a minute, until that was refreshed', async () => {
    const { devices, store } = open.programs;
    const { deviceCode, userCode } = await devices.begin({ ...asked, clientId: 'one' });
    await devices.approve(userCode, open.ada, open.team.id);
    const first = issued(await open.programs.claim(deviceCode, 'one'));
    expect(await open.programs.claim(deviceCode, 'another')).toEqual({ state: 'expired' });
    const again = issued(await open.programs.claim(deviceCode, 'one'));
    expect(again).toMatchObject({ programId: first.programId, tokens: { refreshToken: first.tokens.refreshToken } });
    expect(await store.listOf(open.ada.id)).toHaveLength(1);
    const claimsFor = await open.connection.redis.pttl(`${open.prefix}device:${tokenHash(deviceCode)}`);
    expect(claimsFor).toBeGreaterThan(50_000);
    expect(claimsFor).toBeLessThanOrEqual(60_000);
    issued(await open.programs.refresh(again.tokens.refreshToken));
    expect(await open.programs.claim(deviceCode, 'one')).toEqual({ state: 'expired' });
  });

  it('whose program was signed out, or whose person was, is not claimed again', async () => {
    const { devices, store } = open.programs;
    const claimed = async () => {
      const { deviceCode, userCode } = await devices.begin(asked);
      await devices.approve(userCode, open.ada, undefined);
      return { deviceCode, ...issued(await open.programs.claim(deviceCode)) };
    };
    const ended = await claimed();
    await store.signOut(ended.programId);
    expect(await open.programs.claim(ended.deviceCode)).toEqual({ state: 'expired' });
    const { deviceCode } = await claimed();
    await open.accounts.users.endSessions(open.ada.id);
    expect(await open.programs.claim(deviceCode)).toEqual({ state: 'denied' });
  });

  it('gets no tokens when it is denied, unknown, or when the person was blocked or signed out everywhere meanwhile', async () => {
    const { devices } = open.programs;
    const denied = await devices.begin(asked);
    await devices.deny(denied.userCode);
    // Its answer may be lost.
    for (let poll = 0; poll < 2; poll++)
      expect(await open.programs.claim(denied.deviceCode)).toEqual({ state: 'denied' });
    expect(await open.programs.claim('guessed')).toEqual({ state: 'expired' });
    const late = await devices.begin(asked);
    await devices.approve(late.userCode, open.ada, undefined);
    await open.accounts.users.endSessions(open.ada.id);
    expect(await open.programs.claim(late.deviceCode)).toEqual({ state: 'denied' });
    expect(await open.programs.store.listOf(open.ada.id)).toEqual([]);
  });

  it('for a team gets no tokens when the person has left the team since it was approved', async () => {
    const { devices } = open.programs;
    const { deviceCode, userCode } = await devices.begin(asked);
    await devices.approve(userCode, open.ada, open.team.id);
    await open.accounts.teams.removeMember(open.team.id, open.ada.id);
    expect(await open.programs.claim(deviceCode)).toEqual({ state: 'denied' });
    await open.accounts.teams.setMember(open.team.id, open.ada.id, 'member');
    expect(await open.programs.claim(deviceCode)).toEqual({ state: 'denied' });
    expect(await open.programs.store.listOf(open.ada.id)).toEqual([]);
  });

  it('ends when the person leaves the team while the tokens are being made', async () => {
    const { devices } = open.programs;
    const { deviceCode, userCode } = await devices.begin(asked);
    await devices.approve(userCode, open.ada, open.team.id);
    const { teams } = open.accounts;
    const membersOf = teams.membersOf.bind(teams);
    vi.spyOn(teams, 'membersOf').mockImplementationOnce(async (id) => {
      await teams.removeMember(id, open.ada.id);
      return membersOf(id);
    });
    expect(await open.programs.claim(deviceCode)).toMatchObject({ state: 'ended', userId: open.ada.id });
    expect(await open.programs.store.listOf(open.ada.id)).toEqual([]);
  });

  it('is claimed by no program that has another client_id', async () => {
    const { devices } = open.programs;
    const { deviceCode, userCode } = await devices.begin({ ...asked, clientId: 'one' });
    await devices.approve(userCode, open.ada, undefined);
    expect(await open.programs.claim(deviceCode, 'another')).toEqual({ state: 'expired' });
    expect(await open.programs.claim(deviceCode, 'one')).toMatchObject({ state: 'issued' });
  });

  it('is refused when too many of one address wait', async () => {
    const { devices } = open.programs;
    await devices.begin(asked);
    pass(450_000);
    await Promise.all(Array.from({ length: 49 }, () => devices.begin(asked)));
    const message = 'Too many programs are signing in. Try again in 3 minutes.';
    const refusal = { code: 'rate_limit_exceeded', retryAfter: 150, message };
    await expect(devices.begin(asked)).rejects.toMatchObject(refusal);
    await devices.begin({ ...asked, address: '192.0.2.2' });
    pass(150_000);
    await devices.begin(asked);
  });

  it('does not count for its address any more once it is decided', async () => {
    const { devices } = open.programs;
    const begun = await Promise.all(Array.from({ length: 50 }, () => devices.begin(asked)));
    const [approved, denied] = begun;
    await devices.approve(approved?.userCode ?? '', open.ada, undefined);
    await devices.deny(denied?.userCode ?? '');
    await Promise.all([devices.begin(asked), devices.begin(asked)]);
    await expect(devices.begin(asked)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    pass(600_000);
    await devices.begin(asked);
  });

  it('leaves no code in the store that could be used', async () => {
    const { deviceCode } = await open.programs.devices.begin(asked);
    const names = await open.connection.redis.keys(`${open.prefix}*`);
    expect(names).toContain(`${open.prefix}device:${tokenHash(deviceCode)}`);
    expect(names.join('\n')).not.toContain(deviceCode);
  });
});

describe('a signed-in program', () => {
  it('gets new tokens for each refresh token, once', async () => {
    const first = await open.signIn();
    const second = issued(await open.programs.refresh(first.tokens.refreshToken));
    const third = issued(await open.programs.refresh(second.tokens.refreshToken));
    expect(new Set([first, second, third].map(({ tokens }) => tokens.refreshToken)).size).toBe(3);
    expect(await open.programs.refresh(first.tokens.refreshToken)).toEqual({
      state: 'replayed',
      programId: first.programId,
      userId: open.ada.id,
    });
    expect(await open.programs.refresh(third.tokens.refreshToken)).toEqual({ state: 'unknown' });
    expect(await open.programs.store.signedOut()).toEqual([first.programId]);
  });

  it('gets the same refresh token again when the answer was lost, for 15 minutes, and as long as that was not used', async () => {
    const first = await open.signIn();
    const second = issued(await open.programs.refresh(first.tokens.refreshToken));
    const again = issued(await open.programs.refresh(first.tokens.refreshToken));
    expect(again.tokens.refreshToken).toBe(second.tokens.refreshToken);
    pass(899_000);
    const late = issued(await open.programs.refresh(first.tokens.refreshToken));
    expect(late.tokens.refreshToken).toBe(second.tokens.refreshToken);
    pass(1_001);
    expect(await open.programs.refresh(first.tokens.refreshToken)).toMatchObject({ state: 'replayed' });
    const other = await open.signIn();
    const next = issued(await open.programs.refresh(other.tokens.refreshToken));
    await open.programs.refresh(next.tokens.refreshToken);
    expect(await open.programs.refresh(other.tokens.refreshToken)).toMatchObject({ state: 'replayed' });
  });

  it('stays signed in when the store has lost its last refreshes, whose older tokens end it as before', async () => {
    const first = await open.signIn();
    const second = issued(await open.programs.refresh(first.tokens.refreshToken));
    const third = issued(await open.programs.refresh(second.tokens.refreshToken));
    await loseRefreshes(first);
    const fourth = issued(await open.programs.refresh(third.tokens.refreshToken));
    expect(new Set([first, second, third, fourth].map(({ tokens }) => tokens.refreshToken)).size).toBe(4);
    expect(await open.programs.refresh(second.tokens.refreshToken)).toMatchObject({ state: 'replayed' });
    const other = await open.signIn();
    const newest = issued(await open.programs.refresh(other.tokens.refreshToken));
    await loseRefreshes(other);
    expect(await open.programs.signOut(newest.tokens.refreshToken)).toMatchObject({ isReplayed: false });
  });

  it('is not signed out by a refresh token that is forged', async () => {
    const { tokens, programId } = await open.signIn();
    for (const forged of [
      tokens.refreshToken.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      tokens.refreshToken.replace('_0_', '_7_'),
      `rtr_refresh_${programId}_0_${'A'.repeat(43)}`,
      'rtr_refresh_',
    ]) {
      expect(await open.programs.refresh(forged)).toEqual({ state: 'unknown' });
      expect(await open.programs.signOut(forged)).toBeUndefined();
    }
    expect(await open.programs.refresh(tokens.refreshToken)).toMatchObject({ state: 'issued' });
  });

  it('ends with its person: blocked, signed out everywhere, or not in the team any more', async () => {
    const { users, teams } = open.accounts;
    const ofTeam = await open.signIn(open.team.id);
    await teams.removeMember(open.team.id, open.ada.id);
    const ended = { state: 'ended', userId: open.ada.id };
    expect(await open.programs.refresh(ofTeam.tokens.refreshToken)).toMatchObject(ended);
    const own = await open.signIn();
    await users.endSessions(open.ada.id);
    expect(await open.programs.refresh(own.tokens.refreshToken)).toMatchObject(ended);
    expect((await open.programs.store.signedOut()).toSorted()).toEqual([ofTeam.programId, own.programId].toSorted());
  });

  it('stays signed in for 180 days at most, however often it is refreshed', async () => {
    let { tokens } = await open.signIn();
    for (let days = 0; days < 180; days += 29) {
      ({ tokens } = issued(await open.programs.refresh(tokens.refreshToken)));
      pass(29 * 86_400_000);
    }
    expect(await open.programs.refresh(tokens.refreshToken)).toMatchObject({ state: 'ended' });
  });

  it('whose provider answers late is not signed out for having come again in the meantime', async () => {
    const { tokens } = await open.signIn();
    const provider = Promise.withResolvers<'confirmed'>();
    const asked = Promise.withResolvers<void>();
    open.programs.confirmWith(() => {
      asked.resolve();
      return provider.promise;
    });
    const slow = open.programs.refresh(tokens.refreshToken);
    await asked.promise;
    const node = open.addNode();
    const second = issued(await node.refresh(tokens.refreshToken));
    const third = issued(await node.refresh(second.tokens.refreshToken));
    provider.resolve('confirmed');
    await expect(slow).rejects.toMatchObject({ code: 'store_unavailable' });
    issued(await node.refresh(third.tokens.refreshToken));
    // One that comes after all that is old all the same.
    expect(await node.refresh(tokens.refreshToken)).toMatchObject({ state: 'replayed' });
  });

  it('is signed out by either of its tokens, and by its person only', async () => {
    const one = await open.signIn();
    expect(await open.programs.store.signOut(one.programId, { userId: 'somebody else' })).toBeUndefined();
    expect(await open.programs.store.signOut(one.programId, { userId: open.ada.id })).toMatchObject({
      isReplayed: false,
    });
    const other = await open.signIn();
    expect(await open.programs.signOut(other.tokens.refreshToken)).toMatchObject({ programId: other.programId });
    expect(await open.programs.signOut(other.tokens.refreshToken)).toBeUndefined();
    const third = await open.signIn();
    expect(await open.programs.signOut(third.tokens.accessToken)).toMatchObject({ programId: third.programId });
    expect(await open.programs.store.listOf(open.ada.id)).toEqual([]);
  });

  it('that is signed out by a refresh token that was replaced may have been stolen', async () => {
    const current = await open.signIn();
    const second = issued(await open.programs.refresh(current.tokens.refreshToken));
    // Whoever has lost the answer has this one.
    expect(await open.programs.signOut(current.tokens.refreshToken)).toMatchObject({ isReplayed: false });
    expect(await open.programs.refresh(second.tokens.refreshToken)).toEqual({ state: 'unknown' });
    const first = await open.signIn();
    for (let { tokens } = first, count = 0; count < 2; count++)
      ({ tokens } = issued(await open.programs.refresh(tokens.refreshToken)));
    const { programId } = first;
    expect(await open.programs.signOut(first.tokens.refreshToken)).toEqual({
      programId,
      userId: open.ada.id,
      isReplayed: true,
    });
    const late = await open.signIn();
    await open.programs.refresh(late.tokens.refreshToken);
    pass(900_001);
    expect(await open.programs.signOut(late.tokens.refreshToken)).toMatchObject({ isReplayed: true });
  });

  it('is one of fifty at most: the oldest is signed out', async () => {
    const first = await open.signIn();
    for (let count = 0; count < 49; count++) await open.signIn();
    expect(await open.programs.store.listOf(open.ada.id)).toHaveLength(50);
    await open.signIn();
    const programs = await open.programs.store.listOf(open.ada.id);
    expect(programs).toHaveLength(50);
    expect(programs.map(({ id }) => id)).not.toContain(first.programId);
    expect(await open.programs.store.signedOut()).toEqual([first.programId]);
  });

  it('names what it has signed out before it fails itself, and again when it comes again', async () => {
    const first = await open.signIn();
    for (let count = 0; count < 49; count++) await open.signIn();
    const { deviceCode, userCode } = await open.programs.devices.begin(asked);
    await open.programs.devices.approve(userCode, open.ada, undefined);
    const ended: string[] = [];
    const claim = () => open.programs.claim(deviceCode, undefined, async (id) => void ended.push(id));
    vi.spyOn(open.programs.store, 'find').mockRejectedValueOnce(new Error('the store is away'));
    await expect(claim()).rejects.toThrow('the store is away');
    expect(ended).toEqual([first.programId]);
    issued(await claim());
    expect(ended).toEqual([first.programId, first.programId]);
  });
});
