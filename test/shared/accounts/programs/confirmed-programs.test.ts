import { decodeJwt } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { issued, openPrograms, type IssuedTokens } from '../../../helpers/accounts/open-programs.ts';
import { until } from '../../../helpers/until.ts';
import { passTime } from '../../../helpers/pass-time.ts';
import { useForEach } from '../../../helpers/use-for-each.ts';

const open = useForEach(openPrograms);

it('a program of somebody whose provider is asked stays signed in, and gets nothing, while it is not known whether a provider lets its person in', async () => {
  const { tokens, programId } = await open.signIn();
  open.programs.setConfirm(async () => 'unknown');
  const away = { name: 'UnconfirmedError', code: 'store_unavailable' };
  await expect(open.refresh({ tokens })).rejects.toMatchObject(away);
  expect(await open.programs.store.find(programId)).toBeDefined();
  open.programs.setConfirm(async () => 'confirmed');
  expect(await open.refresh({ tokens })).toMatchObject({ state: 'issued' });
  open.programs.setConfirm(async () => 'refused');
  expect(await open.refresh({ tokens })).toMatchObject({ state: 'ended', programId });
});

it('a program of somebody whose provider is asked keeps its refresh token while it waits for a provider, so that it may give up and come again much later', async () => {
  const { tokens } = await open.signIn();
  const { promise, resolve } = Promise.withResolvers<'confirmed'>();
  const asks = vi.fn(() => promise);
  open.programs.setConfirm(asks);
  const givenUp = open.refresh({ tokens });
  await until(() => asks.mock.calls.length === 1);
  open.programs.setConfirm(async () => 'unknown');
  await expect(open.refresh({ tokens })).rejects.toMatchObject({ name: 'UnconfirmedError' });
  passTime(3_600_000);
  open.programs.setConfirm(async () => 'confirmed');
  const second = await open.renew({ tokens });
  resolve('confirmed');
  // Both were the first to use it.
  expect(issued(await givenUp).tokens.refreshToken).toBe(second.tokens.refreshToken);
  expect(await open.refresh(second)).toMatchObject({ state: 'issued' });
});

it('a program of somebody whose provider is asked gets tokens with the state of its person after the provider was asked', async () => {
  const { tokens } = await open.signIn();
  open.programs.setConfirm(async ({ id }) => {
    await open.accounts.users.change(id, { weight: 7 }, Date.now());
    return 'confirmed';
  });
  const { accessToken } = (await open.renew({ tokens })).tokens;
  expect(decodeJwt(accessToken)).toMatchObject({ user: { weight: 7 } });
});

it('a program of somebody whose provider is asked is announced as signed out when its code comes again, and it is not known whether a provider lets its person in', async () => {
  const deviceCode = await open.approve();
  const { programId } = issued(await open.programs.claim(deviceCode));
  open.programs.setConfirm(async () => 'unknown');
  const announced: string[] = [];
  const again = open.programs.claim(deviceCode, undefined, async (id) => void announced.push(id));
  await expect(again).rejects.toMatchObject({ name: 'UnconfirmedError' });
  expect(announced).toEqual([programId]);
});

it('a program of somebody whose provider is asked gets no tokens when its person signs out everywhere while they are being made', async () => {
  const deviceCode = await open.approve();
  open.programs.setConfirm(async () => {
    await open.accounts.users.endSessions(open.ada.id);
    return 'confirmed';
  });
  expect(await open.programs.claim(deviceCode)).toMatchObject({ state: 'ended', userId: open.ada.id });
  expect(await open.programs.store.listOfPerson(open.ada.id)).toEqual([]);
});

describe('a refresh that signs a program out is announced', () => {
  const lostReply = new Error('the reply is lost');
  async function refresh({ tokens }: Pick<IssuedTokens, 'tokens'>): Promise<[unknown, string[]]> {
    const announced: string[] = [];
    const outcome = open.programs.refresh(tokens.refreshToken, async (id) => void announced.push(id));
    return [await outcome.then(({ state }) => state).catch((error: unknown) => error), announced];
  }

  it('unless it gives tokens', async () => {
    expect(await refresh(await open.signIn())).toEqual(['issued', []]);
  });

  it('when its token was used before, also if the reply of the store is lost', async () => {
    for (const isLost of [false, true]) {
      const first = await open.signIn();
      await open.renew(await open.renew(first));
      const { store } = open.programs;
      const replace = store.refresh.bind(store);
      if (isLost)
        vi.spyOn(store, 'refresh').mockImplementationOnce(async (...args) => {
          await replace(...args);
          throw lostReply;
        });
      expect(await refresh(first)).toEqual([isLost ? lostReply : 'replayed', [first.programId]]);
    }
  });

  it('when its person is refused, also if the reply of the store is lost', async () => {
    for (const isLost of [false, true]) {
      const first = await open.signIn();
      open.programs.setConfirm(async () => 'refused');
      const { store } = open.programs;
      if (isLost) vi.spyOn(store, 'signOut').mockRejectedValueOnce(lostReply);
      expect(await refresh(first)).toEqual([isLost ? lostReply : 'ended', [first.programId]]);
      open.programs.setConfirm(async () => 'confirmed');
    }
  });
});
