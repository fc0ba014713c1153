import { beforeEach, describe, expect, it, vi } from 'vitest';
import { hashToken } from '#shared/accounts/people/secret-token.ts';
import { asked, issued, openPrograms, type IssuedTokens } from '../../../../helpers/accounts/open-programs.ts';
import { passTime } from '../../../../helpers/pass-time.ts';
import { useForEach } from '../../../../helpers/use-for-each.ts';

const open = useForEach(openPrograms);
// Time passes only where a test makes it pass.
beforeEach(() => passTime(0));
const begin = (address = asked.address) => open.programs.devices.begin({ ...asked, address });
const claim = (code: string, clientId?: string) => open.programs.claim(code, clientId);
const refresh = (of: Pick<IssuedTokens, 'tokens'>) => open.refresh(of);
const renew = (of: Pick<IssuedTokens, 'tokens'>) => open.renew(of);
const ofAda = () => open.programs.store.listOfPerson(open.ada.id);

/** Puts the stored program back to where it was when it was signed in, as a replica that takes over may. */
async function loseRefreshes({ programId }: { programId: string }): Promise<void> {
  const name = `${open.prefix}program:${programId}`;
  await open.redis.multi().hset(name, 'generation', 0).hdel(name, 'rotatedAt').exec();
}

describe('the sign-in of a program', () => {
  it('waits for a person, and is polled no faster than every two seconds', async () => {
    const { deviceCode, userCode } = await begin();
    expect(userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(await claim(deviceCode)).toEqual({ state: 'pending' });
    expect(await claim(deviceCode)).toEqual({ state: 'slow down' });
    // Each time, it has to wait for five seconds more.
    passTime(2_000);
    expect(await claim(deviceCode)).toEqual({ state: 'slow down' });
    passTime(12_000);
    expect(await claim(deviceCode)).toEqual({ state: 'pending' });
  });

  it('is found by its code in any spelling, and approved once', async () => {
    const { deviceCode, userCode } = await begin();
    expect(await open.programs.devices.find(` ${userCode.toLowerCase().replace('-', ' ')}`)).toMatchObject(asked);
    expect(await open.programs.devices.approve(userCode, open.ada, undefined)).toBe(true);
    expect(await open.programs.devices.find(userCode)).toBeUndefined();
    expect(await open.programs.devices.deny(userCode)).toBe(false);
    expect(await claim(deviceCode)).toMatchObject({ state: 'issued', userId: open.ada.id });
    expect(await ofAda()).toMatchObject([asked]);
  });

  it('whose answer was lost gets the same program for a minute, until that was refreshed, and no other client_id does', async () => {
    const deviceCode = await open.approve({ teamId: open.team.id, clientId: 'one' });
    // Before it has an answer, and afterwards.
    expect(await claim(deviceCode, 'another')).toEqual({ state: 'expired' });
    const first = issued(await claim(deviceCode, 'one'));
    expect(await claim(deviceCode, 'another')).toEqual({ state: 'expired' });
    const again = issued(await claim(deviceCode, 'one'));
    expect(again).toMatchObject({ programId: first.programId, tokens: { refreshToken: first.tokens.refreshToken } });
    expect(await ofAda()).toHaveLength(1);
    const claimsFor = await open.redis.pttl(`${open.prefix}device:${hashToken(deviceCode)}`);
    expect(claimsFor > 30_000 && claimsFor <= 60_000).toBe(true);
    await renew(again);
    expect(await claim(deviceCode, 'one')).toEqual({ state: 'expired' });
  });

  it('whose program was signed out, or whose person was, is not claimed again', async () => {
    const [ended, other] = [await open.approve(), await open.approve()];
    await open.programs.store.signOut(issued(await claim(ended)).programId);
    expect(await claim(ended)).toEqual({ state: 'expired' });
    issued(await claim(other));
    await open.accounts.users.endSessions(open.ada.id);
    expect(await claim(other)).toEqual({ state: 'denied' });
  });

  it('gets no tokens when it is denied, unknown, or when the person was blocked or signed out everywhere meanwhile', async () => {
    const denied = await begin();
    await open.programs.devices.deny(denied.userCode);
    // Its answer may be lost.
    for (let poll = 0; poll < 2; poll++) expect(await claim(denied.deviceCode)).toEqual({ state: 'denied' });
    expect(await claim('guessed')).toEqual({ state: 'expired' });
    const late = await open.approve();
    await open.accounts.users.endSessions(open.ada.id);
    expect(await claim(late)).toEqual({ state: 'denied' });
    expect(await ofAda()).toEqual([]);
  });

  it('for a team gets no tokens when the person has left the team since it was approved', async () => {
    const deviceCode = await open.approve({ teamId: open.team.id });
    await open.accounts.teams.removeMember(open.team.id, open.ada.id);
    expect(await claim(deviceCode)).toEqual({ state: 'denied' });
    await open.accounts.teams.setMember(open.team.id, open.ada.id, 'member');
    expect(await claim(deviceCode)).toEqual({ state: 'denied' });
    expect(await ofAda()).toEqual([]);
  });

  it('ends when the person leaves the team while the tokens are being made', async () => {
    const deviceCode = await open.approve({ teamId: open.team.id });
    const { teams } = open.accounts;
    const membersOf = teams.membersOf.bind(teams);
    vi.spyOn(teams, 'membersOf').mockImplementationOnce(async (id) => {
      await teams.removeMember(id, open.ada.id);
      return membersOf(id);
    });
    expect(await claim(deviceCode)).toMatchObject({ state: 'ended', userId: open.ada.id });
    expect(await ofAda()).toEqual([]);
  });

  it('is refused when too many of one address wait', async () => {
    await begin();
    passTime(450_000);
    await Promise.all(Array.from({ length: 49 }, () => begin()));
    const message = 'Too many programs are signing in. Try again in 3 minutes.';
    const refusal = { code: 'rate_limit_exceeded', retryAfter: 150, message };
    await expect(begin()).rejects.toMatchObject(refusal);
    await begin('192.0.2.2');
    passTime(150_000);
    await begin();
  });

  it('does not count for its address any more once it is decided', async () => {
    const [approved, denied] = await Promise.all(Array.from({ length: 50 }, () => begin()));
    await open.programs.devices.approve(approved?.userCode ?? '', open.ada, undefined);
    await open.programs.devices.deny(denied?.userCode ?? '');
    await Promise.all([begin(), begin()]);
    await expect(begin()).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    passTime(600_000);
    await begin();
  });

  it('leaves no code in the store that could be used', async () => {
    const { deviceCode } = await begin();
    const names = await open.redis.keys(`${open.prefix}*`);
    expect(names).toContain(`${open.prefix}device:${hashToken(deviceCode)}`);
    expect(names.join('\n')).not.toContain(deviceCode);
  });
});

describe('a signed-in program', () => {
  it('gets new tokens for each refresh token, once', async () => {
    const first = await open.signIn();
    const second = await renew(first);
    const third = await renew(second);
    expect(new Set([first, second, third].map(({ tokens }) => tokens.refreshToken)).size).toBe(3);
    const { programId } = first;
    expect(await refresh(first)).toEqual({ state: 'replayed', programId, userId: open.ada.id });
    expect(await refresh(third)).toEqual({ state: 'unknown' });
    expect(await open.programs.store.listSignedOut()).toEqual([first.programId]);
  });

  it('gets the same refresh token again when the answer was lost, for 15 minutes, and as long as that was not used', async () => {
    const first = await open.signIn();
    const { refreshToken } = (await renew(first)).tokens;
    expect((await renew(first)).tokens.refreshToken).toBe(refreshToken);
    passTime(899_000);
    expect((await renew(first)).tokens.refreshToken).toBe(refreshToken);
    passTime(1_001);
    expect(await refresh(first)).toMatchObject({ state: 'replayed' });
    const other = await open.signIn();
    await refresh(await renew(other));
    expect(await refresh(other)).toMatchObject({ state: 'replayed' });
  });

  it('stays signed in when the store has lost its last refreshes, whose older tokens end it as before', async () => {
    const first = await open.signIn();
    const second = await renew(first);
    const third = await renew(second);
    await loseRefreshes(first);
    const fourth = await renew(third);
    expect(new Set([first, second, third, fourth].map(({ tokens }) => tokens.refreshToken)).size).toBe(4);
    expect(await refresh(second)).toMatchObject({ state: 'replayed' });
    const other = await open.signIn();
    const newest = await renew(other);
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
    expect(await refresh({ tokens })).toMatchObject({ state: 'issued' });
  });

  it('ends with its person: blocked, signed out everywhere, or not in the team any more', async () => {
    const { users, teams } = open.accounts;
    const ofTeam = await open.signIn(open.team.id);
    await teams.removeMember(open.team.id, open.ada.id);
    const ended = { state: 'ended', userId: open.ada.id };
    expect(await refresh(ofTeam)).toMatchObject(ended);
    const own = await open.signIn();
    await users.endSessions(open.ada.id);
    expect(await refresh(own)).toMatchObject(ended);
    expect((await open.programs.store.listSignedOut()).toSorted()).toEqual(
      [ofTeam.programId, own.programId].toSorted(),
    );
  });

  it('stays signed in for 180 days at most, however often it is refreshed', async () => {
    let { tokens } = await open.signIn();
    for (let days = 0; days < 180; days += 29) {
      ({ tokens } = await renew({ tokens }));
      passTime(29 * 86_400_000);
    }
    expect(await refresh({ tokens })).toMatchObject({ state: 'ended' });
  });

  it('whose provider answers late is not signed out for having come again in the meantime', async () => {
    const { tokens } = await open.signIn();
    const provider = Promise.withResolvers<'confirmed'>();
    const asked = Promise.withResolvers<void>();
    open.programs.setConfirm(() => {
      asked.resolve();
      return provider.promise;
    });
    const slow = refresh({ tokens });
    await asked.promise;
    const node = open.addNode();
    const second = issued(await node.refresh(tokens.refreshToken));
    const third = issued(await node.refresh(second.tokens.refreshToken));
    provider.resolve('confirmed');
    await expect(slow).rejects.toMatchObject({ code: 'store_unavailable' });
    issued(await node.refresh(third.tokens.refreshToken));
    // A token that comes after all that is old all the same.
    expect(await node.refresh(tokens.refreshToken)).toMatchObject({ state: 'replayed' });
  });

  it('is signed out by either of its tokens, and by its person only', async () => {
    const { programs } = open;
    const { programId } = await open.signIn();
    expect(await programs.store.signOut(programId, { userId: 'somebody else' })).toBeUndefined();
    expect(await programs.store.signOut(programId, { userId: open.ada.id })).toMatchObject({ isReplayed: false });
    for (const kind of ['refreshToken', 'accessToken'] as const) {
      const { tokens, ...other } = await open.signIn();
      expect(await programs.signOut(tokens[kind])).toMatchObject({ programId: other.programId });
      expect(await programs.signOut(tokens[kind])).toBeUndefined();
    }
    expect(await ofAda()).toEqual([]);
  });

  it('that is signed out by a refresh token that was replaced may have been stolen', async () => {
    const current = await open.signIn();
    const second = await renew(current);
    // A client that has lost the reply has this one.
    expect(await open.programs.signOut(current.tokens.refreshToken)).toMatchObject({ isReplayed: false });
    expect(await refresh(second)).toEqual({ state: 'unknown' });
    const first = await open.signIn();
    for (let { tokens } = first, count = 0; count < 2; count++) ({ tokens } = await renew({ tokens }));
    const outcome = { programId: first.programId, userId: open.ada.id, isReplayed: true };
    expect(await open.programs.signOut(first.tokens.refreshToken)).toEqual(outcome);
    const late = await open.signIn();
    await refresh(late);
    passTime(900_001);
    expect(await open.programs.signOut(late.tokens.refreshToken)).toMatchObject({ isReplayed: true });
  });

  it('is one of fifty at most, and reports the oldest one, which it has signed out, before it can fail itself, and again in a repeated claim', async () => {
    const first = await open.signIn();
    passTime(1);
    for (let count = 0; count < 49; count++) await open.signIn();
    expect(await ofAda()).toHaveLength(50);
    const deviceCode = await open.approve();
    const ended: string[] = [];
    const again = () => open.programs.claim(deviceCode, undefined, async (changed) => void ended.push(changed));
    vi.spyOn(open.programs.store, 'find').mockRejectedValueOnce(new Error('the store is away'));
    await expect(again()).rejects.toThrow('the store is away');
    expect(ended).toEqual([`program:${first.programId}`]);
    issued(await again());
    expect(ended).toEqual([`program:${first.programId}`, `program:${first.programId}`]);
    const ids = (await ofAda()).map(({ id }) => id);
    expect([ids.length, ids.includes(first.programId)]).toEqual([50, false]);
    expect(await open.programs.store.listSignedOut()).toEqual([first.programId]);
  });
});
