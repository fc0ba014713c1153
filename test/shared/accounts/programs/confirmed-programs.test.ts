import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { issued, openPrograms, type OpenPrograms } from '../../../helpers/accounts/open-programs.ts';
import { until } from '../../../helpers/until.ts';

let open: OpenPrograms;

beforeEach(async () => {
  open = await openPrograms(inject('redisUrl'));
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a program of somebody whose provider is asked', () => {
  it('stays signed in, and gets nothing, while it is not known whether a provider lets its person in', async () => {
    const { tokens, programId } = await open.signIn();
    open.programs.confirmWith(async () => 'unknown');
    const away = { name: 'UnconfirmedError', code: 'store_unavailable' };
    await expect(open.programs.refresh(tokens.refreshToken)).rejects.toMatchObject(away);
    expect(await open.programs.store.find(programId)).toBeDefined();
    open.programs.confirmWith(async () => 'confirmed');
    expect(await open.programs.refresh(tokens.refreshToken)).toMatchObject({ state: 'issued' });
    open.programs.confirmWith(async () => 'refused');
    expect(await open.programs.refresh(tokens.refreshToken)).toMatchObject({ state: 'ended', programId });
  });

  it('keeps its refresh token while it waits for a provider, so that it may give up and come again much later', async () => {
    const { tokens } = await open.signIn();
    const { promise, resolve } = Promise.withResolvers<'confirmed'>();
    const asks = vi.fn(() => promise);
    open.programs.confirmWith(asks);
    const givenUp = open.programs.refresh(tokens.refreshToken);
    await until(() => asks.mock.calls.length === 1);
    open.programs.confirmWith(async () => 'unknown');
    await expect(open.programs.refresh(tokens.refreshToken)).rejects.toMatchObject({ name: 'UnconfirmedError' });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    open.programs.confirmWith(async () => 'confirmed');
    const second = issued(await open.programs.refresh(tokens.refreshToken));
    resolve('confirmed');
    // Both were the first to use it.
    expect(issued(await givenUp).tokens.refreshToken).toBe(second.tokens.refreshToken);
    expect(await open.programs.refresh(second.tokens.refreshToken)).toMatchObject({ state: 'issued' });
  });

  it('has in its tokens what its person is after the provider was asked', async () => {
    const { tokens } = await open.signIn();
    open.programs.confirmWith(async ({ id }) => {
      await open.accounts.users.change(id, { weight: 7 }, Date.now());
      return 'confirmed';
    });
    const { accessToken } = issued(await open.programs.refresh(tokens.refreshToken)).tokens;
    const [, claims = ''] = accessToken.split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ user: { weight: 7 } });
  });

  it('is announced as signed out when its code comes again, and it is not known whether a provider lets its person in', async () => {
    const { deviceCode, userCode } = await open.programs.devices.begin({ client: 'Claude Code', address: '192.0.2.1' });
    await open.programs.devices.approve(userCode, open.ada, undefined);
    const { programId } = issued(await open.programs.claim(deviceCode));
    open.programs.confirmWith(async () => 'unknown');
    const announced: string[] = [];
    const again = open.programs.claim(deviceCode, undefined, async (id) => void announced.push(id));
    await expect(again).rejects.toMatchObject({ name: 'UnconfirmedError' });
    expect(announced).toEqual([programId]);
  });

  it('gets no tokens when its person signs out everywhere while they are being made', async () => {
    const { deviceCode, userCode } = await open.programs.devices.begin({ client: 'Claude Code', address: '192.0.2.1' });
    await open.programs.devices.approve(userCode, open.ada, undefined);
    const signsOut = async () => {
      await open.accounts.users.endSessions(open.ada.id);
      return 'confirmed' as const;
    };
    open.programs.confirmWith(signsOut);
    expect(await open.programs.claim(deviceCode)).toMatchObject({ state: 'ended', userId: open.ada.id });
    expect(await open.programs.store.listOf(open.ada.id)).toEqual([]);
  });
});
