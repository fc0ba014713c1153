import { decodeJwt } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { issued, openPrograms, type IssuedTokens } from '../../../../helpers/accounts/open-programs.ts';
import { until } from '../../../../helpers/until.ts';
import { passTime } from '../../../../helpers/pass-time.ts';
import { useForEach } from '../../../../helpers/use-for-each.ts';

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
  const again = open.programs.claim(deviceCode, undefined, async (changed) => void announced.push(changed));
  await expect(again).rejects.toMatchObject({ name: 'UnconfirmedError' });
  expect(announced).toEqual([`program:${programId}`]);
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
  function loseReply(method: 'refresh' | 'signOut'): void {
    const { store } = open.programs;
    const call: (...args: never) => Promise<unknown> = store[method].bind(store);
    vi.spyOn(store, method).mockImplementationOnce(async (...args: unknown[]) => {
      await call(...(args as never));
      throw lostReply;
    });
  }

  async function refresh({ tokens }: Pick<IssuedTokens, 'tokens'>): Promise<[unknown, string[]]> {
    const announced: string[] = [];
    const outcome = open.programs.refresh(tokens.refreshToken, async (changed) => void announced.push(changed));
    return [await outcome.then(({ state }) => state).catch((error: unknown) => error), announced];
  }

  it('unless it gives tokens', async () => {
    expect(await refresh(await open.signIn())).toEqual(['issued', []]);
  });

  it.each(['refresh', 'signOut'] as const)(
    'at once, and as a change of its person when the reply of the store is lost (%s)',
    async (method) => {
      for (const isLost of [false, true]) {
        const first = await open.signIn();
        if (method === 'refresh') await open.renew(await open.renew(first));
        else open.programs.setConfirm(async () => 'refused');
        const node = open.addNode();
        await node.verifier.verify(first.tokens.accessToken);
        if (isLost) loseReply(method);
        const [outcome, announced] = await refresh(first);
        open.programs.setConfirm(async () => 'confirmed');
        expect(outcome).toEqual(isLost ? lostReply : method === 'refresh' ? 'replayed' : 'ended');
        expect(announced).toEqual([isLost ? `user:${open.ada.id}` : `program:${first.programId}`]);
        for (const changed of announced) node.verifier.drop(changed);
        const verifying = async () => node.verifier.verify(first.tokens.accessToken);
        await expect(verifying()).rejects.toMatchObject({ code: 'invalid_api_key' });
      }
    },
  );

  it.each(['lost', 'an error'])('but not when the reply of the store to a good token is %s', async (reply) => {
    const first = await open.signIn();
    const node = open.addNode();
    await node.verifier.verify(first.tokens.accessToken);
    if (reply === 'lost') loseReply('refresh');
    else vi.spyOn(open.programs.store, 'refresh').mockRejectedValueOnce(lostReply);
    const [outcome, announced] = await refresh(first);
    expect(outcome).toBe(lostReply);
    for (const changed of announced) node.verifier.drop(changed);
    const next = await open.renew(first);
    for (const { tokens } of [first, next])
      expect(await node.verifier.verify(tokens.accessToken)).toMatchObject({ ownerId: open.ada.id });
  });
});
