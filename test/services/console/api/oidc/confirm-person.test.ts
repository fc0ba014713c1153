import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deletePerson } from '#shared/accounts/people/delete-person.ts';
import { accountNames } from '#shared/store/redis/account-names.ts';
import { RouterError } from '#shared/core/errors.ts';
import { signInSchema } from '#shared/registry/sign-in.ts';
import { createHolderConfirmer, createPersonConfirmer } from '#services/console/api/oidc/confirm-person.ts';
import { ProviderClients } from '#services/console/api/oidc/provider-clients.ts';
import { openExternals } from '../../../../helpers/accounts/open-externals.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import {
  idToken,
  startCountedProvider,
  type CountedProvider,
  type TokenAnswer,
} from '../../../../helpers/upstreams/start-counted-provider.ts';
import { until } from '../../../../helpers/until.ts';

const hourMs = 3_600_000;
const secret = Buffer.alloc(32, 1);

/** A provider, Grace, whose last confirmation ended `endedMs` ago, and the nodes of a cluster that ask it about her. */
async function open({ endedMs = 2 * hourMs, slash = '', scopes = ['openid'] } = {}) {
  const provider = await startCountedProvider();
  const company = { name: 'company', issuer: provider.issuer + slash, client_id: 'router', scopes, domains: ['*'] };
  const signIn = () => signInSchema.parse({ providers: [company] });
  const store = await openKeyStore();
  const { accounts } = store;
  const logged: string[] = [];
  const log = pino({}, { write: (line) => void logged.push(line) });
  const announced: string[] = [];
  const addNode = (secrets: readonly Uint8Array[] = [secret]) => {
    const externals = openExternals(store, secrets);
    const announce = async (changed: string) => void announced.push(changed);
    const clients = new ProviderClients({});
    const parts = { accounts, externals, announce, log, clients, signIn };
    const confirm = createPersonConfirmer(parts);
    return { externals, confirm, confirmHolder: createHolderConfirmer(parts, confirm) };
  };
  const node = addNode();
  const subject = { provider: 'company', issuer: provider.issuer, subject: 'grace' };
  const start = await accounts.settings.readNewPersonSettings('member');
  const person = { ...subject, name: 'Grace', email: 'grace@example.com', role: 'member' } as const;
  const grace = await node.externals.create(person, start);
  if (typeof grace === 'string') throw new Error(grace);
  const isOffline = scopes.includes('offline_access');
  const goodUntil = Date.now() - endedMs;
  await node.externals.store(grace.id, { ...subject, goodUntil, refreshToken: 'grace.0', isOffline });
  const now = async () => {
    const { epoch, tokenEpoch = 0 } = (await accounts.users.find(grace.id)) ?? {};
    return { epoch, tokenEpoch };
  };
  const isRefused = async () => (await accounts.users.find(grace.id))?.refusedAt !== undefined;
  return { ...store, subject, isRefused, provider, grace, ...node, addNode, logged, announced, now };
}

const hanging: TokenAnswer = async () => {
  await sleep(800);
  return { status: 503, body: '' };
};

function refuseTokens(provider: CountedProvider, error = 'invalid_grant'): void {
  provider.answerTokens(() => ({ status: 400, body: { error } }));
}

/** Makes a provider answer only when the test releases it. */
function hold(provider: CountedProvider, answer: Awaited<ReturnType<TokenAnswer>>) {
  const { promise, resolve } = Promise.withResolvers<typeof answer>();
  provider.answerTokens(() => promise);
  return { release: () => resolve(answer) };
}

/** The answer of a provider that admits Grace. */
const tokens = { access_token: 'any', token_type: 'Bearer', refresh_token: 'grace.1' };

const stays = { epoch: 0, tokenEpoch: 0 };
const isEnded = { epoch: 1, tokenEpoch: 1 };
const offline = ['openid', 'offline_access'];

describe('a person whose last confirmation by the provider has expired', () => {
  it('is asked about once, however many nodes need the answer, and all of them get it', async () => {
    const { provider, grace, confirm, addNode, now } = await open();
    const answer = hold(provider, { body: tokens });
    const confirmed = [confirm(grace), addNode().confirm(grace), confirm(grace), addNode().confirm(grace)];
    await until(() => provider.refreshed.length > 0);
    await sleep(250);
    answer.release();
    expect(await Promise.all(confirmed)).toEqual(Array(4).fill('confirmed'));
    expect(provider.refreshed).toEqual(['grace.0']);
    expect(await now()).toEqual(stays);
  });

  it('is refused on all nodes that have asked when the provider refuses, and is signed out once', async () => {
    const { provider, grace, confirm, addNode, announced, now } = await open();
    const answer = hold(provider, { status: 400, body: { error: 'invalid_grant' } });
    const confirmed = [confirm(grace), addNode().confirm(grace), confirm(grace)];
    await until(() => provider.refreshed.length > 0);
    await sleep(250);
    answer.release();
    expect(await Promise.all(confirmed)).toEqual(Array(3).fill('refused'));
    expect(await now()).toEqual(isEnded);
    expect(announced).toEqual([`user:${grace.id}`]);
  });

  it('is asked about under the other form of an issuer without a path', async () => {
    const { provider, grace, confirm, externals } = await open({ slash: '/' });
    provider.answerTokens(() => ({ body: tokens }));
    expect(await confirm(grace)).toBe('confirmed');
    expect(provider.refreshed).toEqual(['grace.0']);
    expect(await externals.find(grace.id)).toMatchObject({ issuer: provider.issuer, refreshToken: 'grace.1' });
  });

  it('is asked about under the other form also for their keys and admin tokens', async () => {
    const { provider, grace, confirmHolder } = await open({ slash: '/', scopes: offline });
    refuseTokens(provider);
    expect(await confirmHolder(grace)).toBe('refused');
    expect(provider.refreshed).toEqual(['grace.0']);
  });

  it('stays signed in within the hour without waiting for the node that asks', async () => {
    const { provider, grace, confirm, addNode } = await open({ endedMs: hourMs / 2 });
    const answer = hold(provider, { body: { access_token: 'any', token_type: 'Bearer' } });
    const first = confirm(grace);
    await until(() => provider.refreshed.length > 0);
    expect(await addNode().confirm(grace)).toBe('confirmed');
    answer.release();
    expect(await first).toBe('confirmed');
  });

  it('keeps the refresh token that another node has used while this one stood still', async () => {
    const { provider, grace, externals, confirm, addNode, now } = await open();
    const beginCheck = externals.beginCheck.bind(externals);
    vi.spyOn(externals, 'beginCheck').mockImplementationOnce(async (id) => {
      expect(await addNode().confirm(grace)).toBe('confirmed');
      return beginCheck(id);
    });
    expect(await confirm(grace)).toBe('confirmed');
    expect(provider.refreshed).toEqual(['grace.0']);
    expect(await externals.find(grace.id)).toMatchObject({ refreshToken: 'grace.1' });
    expect(await now()).toEqual(stays);
  });

  it('stays signed in within the hour when the store has kept the new refresh token and only its reply was lost', async () => {
    const { provider, grace, externals, confirm, now } = await open({ endedMs: hourMs / 2 });
    const keep = externals.store.bind(externals);
    vi.spyOn(externals, 'store').mockImplementationOnce(async (...kept) => {
      await keep(...kept);
      throw new RouterError('store_unavailable', 'The reply is late.');
    });
    expect(await confirm(grace)).toBe('confirmed');
    expect(await externals.find(grace.id)).toMatchObject({ refreshToken: 'grace.1' });
    expect((await externals.find(grace.id))?.goodUntil).toBeGreaterThan(Date.now());
    expect([provider.refreshed, await now()]).toEqual([['grace.0'], stays]);
  });

  it('keeps the new refresh token when the store is away for nineteen seconds', async () => {
    const { grace, externals, confirm, now } = await open();
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    vi.spyOn(externals, 'store').mockImplementationOnce(async () => {
      vi.advanceTimersByTime(19_000);
      throw new RouterError('store_unavailable', 'away');
    });
    expect(await confirm(grace)).toBe('confirmed');
    expect(await externals.find(grace.id)).toMatchObject({ refreshToken: 'grace.1' });
    expect(await now()).toEqual(stays);
  });

  it('is asked about by another node after one that has died', async () => {
    const { grace, externals, confirm, redis, prefix } = await open();
    expect(await externals.beginCheck(grace.id)).toBeDefined();
    const lock = accountNames(prefix).externalCheck(grace.id);
    expect(await redis.pttl(lock)).toBeGreaterThan(40_000);
    const isChecked = vi.spyOn(externals, 'isBeingChecked');
    const waiting = confirm(grace);
    await until(() => isChecked.mock.calls.length > 0);
    await redis.pexpire(lock, 1);
    expect(await waiting).toBe('unknown');
    expect(await confirm(grace)).toBe('confirmed');
  });
});

describe('a provider', () => {
  it.each(['invalid_grant', 'access_denied'])('that answers %s has refused the person', async (error) => {
    const { provider, grace, confirm, now, announced } = await open({ endedMs: 0 });
    refuseTokens(provider, error);
    expect(await confirm(grace)).toBe('refused');
    expect(await now()).toEqual(isEnded);
    expect(announced).toEqual([`user:${grace.id}`]);
  });

  it.each([
    [401, 'invalid_client'],
    [400, 'unauthorized_client'],
    [400, 'invalid_request'],
    [403, 'rate_exceeded'],
    [429, 'access_denied'],
    [503, 'temporarily_unavailable'],
  ])(
    'that answers %i %s ends nothing: the person stays signed in for an hour, and is then unknown until it answers',
    async (status, error) => {
      const inTheHour = await open({ endedMs: hourMs - 60_000 });
      const after = await open({ endedMs: hourMs });
      for (const { provider } of [inTheHour, after]) provider.answerTokens(() => ({ status, body: { error } }));
      expect(await inTheHour.confirm(inTheHour.grace)).toBe('confirmed');
      expect(await after.confirm(after.grace)).toBe('unknown');
      for (const { now, announced, logged } of [inTheHour, after]) {
        expect(await now()).toEqual(stays);
        expect(announced).toEqual([]);
        const answered = JSON.stringify({ ...(status < 500 && { error }), status });
        expect(logged.join('')).toContain(`"answered":${answered}`);
      }
      after.provider.answerTokens(undefined);
      expect(await after.confirm(after.grace)).toBe('confirmed');
    },
  );

  it('that refuses the router is named in the log with its answer, also where it sends a challenge', async () => {
    const { provider, grace, confirm, logged } = await open();
    const headers = { 'www-authenticate': 'Basic realm="id"' };
    const body = { error: 'invalid_client', error_description: 'The secret has expired.' };
    provider.answerTokens(() => ({ status: 401, headers, body }));
    expect(await confirm(grace)).toBe('unknown');
    const answered = { error: 'invalid_client', description: 'The secret has expired.', status: 401 };
    expect(logged.join('')).toContain(`"answered":${JSON.stringify(answered)}`);
  });

  it('that does not answer at all signs nobody out', async () => {
    const { provider, grace, confirm, now, logged } = await open();
    await provider.close();
    expect(await confirm(grace)).toBe('unknown');
    expect(await now()).toEqual(stays);
    expect(logged.join('')).toContain('a provider cannot be asked about a person');
  });

  it('that hangs is not waited for at each use: its people stay signed in, and it is asked again later', async () => {
    const { provider, grace, confirm, redis, prefix } = await open({ endedMs: hourMs / 2 });
    provider.answerTokens(hanging);
    expect(await confirm(grace)).toBe('confirmed');
    const before = performance.now();
    expect(await confirm(grace)).toBe('confirmed');
    // Other nodes would wait until the mark of the asking node ends, after most of a minute.
    expect(performance.now() - before).toBeLessThan(10_000);
    expect(provider.refreshed).toEqual(['grace.0']);
    provider.answerTokens(undefined);
    await redis.pexpire(accountNames(prefix).externalCheck(grace.id), 1);
    await sleep(10);
    expect(await confirm(grace)).toBe('confirmed');
    expect(provider.refreshed).toEqual(['grace.0', 'grace.0']);
  });

  it('that hangs is waited for again at the end of the hour, when its people no longer stay signed in', async () => {
    const { provider, grace, confirm, externals } = await open({ endedMs: hourMs - 20_000 });
    provider.answerTokens(hanging);
    expect(await confirm(grace)).toBe('confirmed');
    expect(await externals.isBeingChecked(grace.id)).toBe(false);
  });

  it('is not asked by a node that cannot open the refresh token, and nothing ends', async () => {
    for (const secrets of [[], [Buffer.alloc(32, 2)]]) {
      const inTheHour = await open({ endedMs: hourMs / 2 });
      expect(await inTheHour.addNode(secrets).confirm(inTheHour.grace)).toBe('confirmed');
      const { provider, grace, confirm, addNode, now } = await open();
      expect(await addNode(secrets).confirm(grace)).toBe('unknown');
      expect(provider.refreshed).toEqual([]);
      expect(await now()).toEqual(stays);
      expect(await confirm(grace)).toBe('confirmed');
    }
  });

  it('whose refresh tokens outlast its sessions ends keys when it refuses one; any other, only when it denies the person', async () => {
    for (const [scopes, error, isShutOut] of [
      [offline, 'invalid_grant', true],
      [['openid'], 'invalid_grant', false],
      [['openid'], 'access_denied', true],
    ] as const) {
      const { provider, grace, confirm, isRefused, now } = await open({ scopes: [...scopes] });
      refuseTokens(provider, error);
      expect(await confirm(grace)).toBe('refused');
      expect([await now(), await isRefused()]).toEqual([isEnded, isShutOut]);
    }
  });

  it('is asked for the use of tokens and keys only where its answer concerns the person and the present client', async () => {
    const evening = await open();
    expect(await evening.confirmHolder(evening.grace)).toBe('confirmed');
    const other = await open({ scopes: offline });
    const lasts = { goodUntil: 0, refreshToken: 'grace.0', isOffline: true, clientId: 'another' };
    await other.externals.store(other.grace.id, { ...other.subject, ...lasts });
    expect(await other.confirmHolder(other.grace)).toBe('confirmed');
    for (const { provider, now } of [evening, other]) expect([provider.refreshed, await now()]).toEqual([[], stays]);
    const asked = await open({ scopes: offline });
    refuseTokens(asked.provider);
    expect(await asked.confirmHolder(asked.grace)).toBe('refused');
    expect(asked.provider.refreshed).toEqual(['grace.0']);
  });

  it('whose scopes were changed ends keys by the scopes with which the refresh token was requested', async () => {
    for (const [scopes, isOffline] of [
      [offline, false],
      [['openid'], true],
    ] as const) {
      const opened = await open({ scopes: [...scopes] });
      const { provider, grace, subject, externals, confirm, confirmHolder, isRefused } = opened;
      await externals.store(grace.id, { ...subject, goodUntil: 0, refreshToken: 'grace.0', isOffline });
      expect(await confirm(grace)).toBe('confirmed');
      const kept = await externals.find(grace.id);
      expect([kept?.refreshToken, kept?.isOffline]).toEqual(['grace.1', isOffline]);
      await externals.store(grace.id, { ...subject, ...kept, goodUntil: 0 });
      refuseTokens(provider);
      expect(await confirmHolder(grace)).toBe(isOffline ? 'refused' : 'confirmed');
      expect(provider.refreshed).toHaveLength(isOffline ? 2 : 1);
      if (!isOffline) expect(await confirm(grace)).toBe('refused');
      expect(await isRefused()).toBe(isOffline);
    }
  });

  it.each([400, 200])(
    'whose answer with status %i comes after a new sign-in of the person does not end that sign-in',
    async (status) => {
      const { provider, grace, externals, subject, confirm, isRefused, now } = await open({ scopes: offline });
      const answer = hold(provider, { status, body: status === 200 ? tokens : { error: 'invalid_grant' } });
      const confirmed = confirm(grace);
      await until(() => provider.refreshed.length > 0);
      await externals.store(grace.id, { ...subject, goodUntil: Date.now() + hourMs, refreshToken: 'new.0' });
      answer.release();
      expect(await confirmed).toBe('confirmed');
      expect([await now(), await isRefused()]).toEqual([stays, false]);
      expect(await externals.find(grace.id)).toMatchObject({ refreshToken: 'new.0' });
    },
  );

  it('that refuses a person who signs in at the same moment does not end the new sign-in', async () => {
    const { provider, grace, externals, subject, confirm, accounts, isRefused, now } = await open({ scopes: offline });
    refuseTokens(provider);
    const { users } = accounts;
    const refuse = users.refuse.bind(users);
    vi.spyOn(users, 'refuse').mockImplementationOnce(async (...refused) => {
      await externals.store(grace.id, { ...subject, goodUntil: Date.now() + hourMs, refreshToken: 'new.0' });
      return refuse(...refused);
    });
    expect(await confirm(grace)).toBe('confirmed');
    expect([await now(), await isRefused()]).toEqual([stays, false]);
  });

  it.each(['deleted', 'unlinked'])(
    'makes and links no account for a person who is %s while its answer is read',
    async (change) => {
      const { provider, grace, externals, confirm, accounts, redis, prefix } = await open();
      const now = Math.floor(Date.now() / 1_000);
      const says = { iss: provider.issuer, aud: 'router', sub: 'grace', iat: now, exp: now + 300 };
      const claims = { ...says, email: grace.email, email_verified: true };
      provider.answerTokens(() => ({ body: { ...tokens, id_token: idToken(claims) } }));
      const keep = externals.store.bind(externals);
      vi.spyOn(externals, 'store').mockImplementationOnce(async (...kept) => {
        const outcome = await keep(...kept);
        if (change === 'unlinked') await externals.unlink(grace.id);
        else await deletePerson({ redis, prefix, ...accounts }, grace.id);
        return outcome;
      });
      expect(await confirm(grace)).toBe('refused');
      expect((await accounts.users.list()).map(({ id }) => id)).toEqual(change === 'unlinked' ? [grace.id] : []);
      expect(await externals.find(grace.id)).toBeUndefined();
      expect(await externals.findPerson({ issuer: provider.issuer, subject: 'grace' })).toBeUndefined();
    },
  );

  it('leaves nothing of a person who is deleted while the provider is asked', async () => {
    const { provider, grace, confirm, accounts, redis, prefix } = await open();
    const answer = hold(provider, { body: tokens });
    const confirmed = confirm(grace);
    await until(() => provider.refreshed.length > 0);
    await deletePerson({ redis, prefix, ...accounts }, grace.id);
    answer.release();
    expect(await confirmed).toBe('refused');
    const names = accountNames(prefix);
    expect(await redis.exists(names.user(grace.id), names.externalAccount(grace.id))).toBe(0);
  });
});
