import { describe, expect, it } from 'vitest';
import { credentialOperations } from '#services/console/api/credentials/credential-operations.ts';
import { AdminClient } from '../../../../helpers/console/admin-client.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { setUpApp } from '../../../../helpers/console/authenticator-app.ts';
import { goodPassword } from '../../../../helpers/console/good-password.ts';
import { openHouse, openTeam, programOf } from '../../../../helpers/console/open-console.ts';
import { refusal } from '../../../../helpers/console/refusals.ts';

const refused = refusal(401, 'invalid_token');
const unscoped = refusal(403, 'insufficient_scope');

describe('an admin token', () => {
  it('is shown once, lists without its secret, and is refused as soon as it is revoked', async () => {
    const { ada, apiLog, redis, prefix, actions } = await openHouse();
    const { body } = await ada.post('/tokens', { name: 'ci', scopes: ['read'], expiresInDays: 7 });
    expect(body.raw).toMatch(/^rtradmin_[0-9a-z]{12}_[\w-]{43}[0-9a-z]{7}$/);
    const client = new AdminClient(ada.url, String(body.raw));
    expect((await client.get('/users')).status).toBe(200);
    const [listed] = (await ada.get('/tokens')).body;
    expect(listed).toMatchObject({ name: 'ci', scopes: ['read'], owner: { id: ada.id, name: 'Ada' } });
    expect(listed.lastUsedAt).toBeGreaterThan(Date.now() - 61_000);
    expect((listed.expiresAt - listed.createdAt) / 86_400_000).toBeCloseTo(7, 3);
    const secret = String(body.raw).split('_').slice(2).join('_').slice(0, 43);
    for (const name of await redis.keys(`${prefix}*`))
      if ((await redis.type(name)) === 'hash') expect(JSON.stringify(await redis.hgetall(name))).not.toContain(secret);
    expect(apiLog.join()).not.toContain(secret);
    expect((await ada.delete(`/tokens/${listed.id}`)).status).toBe(204);
    expect(await client.get('/users')).toMatchObject(refused);
    expect((await ada.get('/tokens')).body).toEqual([]);
    expect((await actions()).slice(0, 2)).toEqual(['token.revoke', 'token.create']);
  });

  it('of a release before 1.0, without a checksum, is still accepted', async () => {
    const { ada } = await openHouse();
    const { token } = await programOf(ada, 'admin');
    expect((await new AdminClient(ada.url, token.slice(0, -7)).get('/users')).status).toBe(200);
  });

  it('is refused when it is malformed, unknown, of another secret or checksum, or expired', async () => {
    const { ada, redis, prefix } = await openHouse();
    const client = await programOf(ada, 'admin');
    const [, id = ''] = client.token.split('_');
    const others = ['', 'x', `rtradmin_${id}_${'A'.repeat(43)}`, `rtradmin_000000000000_${'A'.repeat(43)}`];
    others.push(client.token.replace(/.{7}$/, '0000000'));
    for (const raw of others) expect(await new AdminClient(ada.url, raw).get('/users')).toMatchObject(refused);
    const answer = await fetch(`${ada.url}/api/admin/v1/users`);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    await redis.hset(`${prefix}admin-token:${id}`, 'expiresAt', Date.now() - 1);
    expect(await client.get('/users')).toMatchObject(refused);
  });

  it('has the present rights of its person, and none once they are blocked or deleted', async () => {
    const { ada, join } = await openHouse();
    const eve = await join(ada, 'eve@example.com', { role: 'admin' });
    const client = await programOf(eve, 'admin');
    expect((await client.get('/users')).status).toBe(200);
    await ada.patch(`/users/${eve.id}`, { role: 'member' });
    expect((await client.get('/users')).status).toBe(403);
    expect((await client.get('/keys')).status).toBe(200);
    await ada.patch(`/users/${eve.id}`, { blocked: true });
    expect(await client.get('/keys')).toMatchObject(refused);
    await ada.patch(`/users/${eve.id}`, { blocked: false });
    expect(await client.get('/keys')).toMatchObject(refused);
    await eve.signIn('eve@example.com', goodPassword);
    const next = await programOf(eve, 'admin');
    expect((await next.get('/keys')).status).toBe(200);
    await ada.delete(`/users/${eve.id}`);
    expect(await next.get('/keys')).toMatchObject(refused);
    expect((await ada.get('/tokens')).body).toEqual([]);
  });

  it('ends when its person signs out everywhere, is signed out, or has another password or address', async () => {
    const { ada, eve, accounts } = await openHouse(['eve']);
    const ends = [
      () => eve.delete('/sessions'),
      () => ada.post(`/users/${eve.id}/sign-out`),
      () => eve.post('/account/email', { email: 'eve2@example.com', password: goodPassword }),
      () => ada.patch(`/users/${eve.id}/profile`, { email: 'eve@example.com' }),
      () => eve.post('/password', { current: goodPassword, next: `${goodPassword}2` }),
    ];
    // A token without an epoch, made directly in the store.
    const reading = { name: 'early', scopes: ['read'], expiresAt: Date.now() + 3_600_000, ownerId: eve.id } as const;
    const { raw } = made(await accounts.adminTokens.create(reading));
    const early = new AdminClient(ada.url, raw);
    expect((await early.get('/keys')).status).toBe(200);
    for (const end of ends) {
      await eve.signIn('eve@example.com', goodPassword);
      const client = await programOf(eve, 'admin');
      expect((await client.get('/keys')).status).toBe(200);
      expect((await end()).status).toBeLessThan(300);
      expect(await client.get('/keys'), String(end)).toMatchObject(refused);
      expect(await early.get('/keys'), String(end)).toMatchObject(refused);
    }
  });

  it('of a person who lacks a demanded second factor is refused, and can make no other token', async () => {
    const { ada } = await openHouse();
    const client = await programOf(ada, 'admin');
    await ada.patch('/settings', { requireSecondFactor: true });
    const demanded = refusal(403, 'second_factor_demanded');
    expect(await client.get('/users')).toMatchObject(demanded);
    expect(await client.post('/tokens', { name: 'more', scopes: ['admin'] })).toMatchObject(demanded);
    await setUpApp(ada);
    expect((await client.get('/users')).status).toBe(200);
  });

  it('that was made with another token expires no later than that one, and is revoked with it', async () => {
    const { ada, redis, prefix } = await openHouse();
    const { body: first } = await ada.post('/tokens', { name: 'short', scopes: ['admin'], expiresInDays: 1 });
    const client = new AdminClient(ada.url, String(first.raw));
    const { body: second } = await client.post('/tokens', { name: 'long', scopes: ['admin'], expiresInDays: 366 });
    expect(second.token).toMatchObject({ expiresAt: first.token.expiresAt, madeWith: first.token.id });
    const child = new AdminClient(ada.url, String(second.raw));
    const { body: third } = await child.post('/tokens', { name: 'longer', scopes: ['read'], expiresInDays: 366 });
    expect(third.token.expiresAt).toBe(first.token.expiresAt);
    const grandchild = new AdminClient(ada.url, String(third.raw));
    expect((await grandchild.get('/users')).status).toBe(200);
    // As after a crash between the removal of a token and of those that were made with it.
    await redis.del(`${prefix}admin-token:${first.token.id}`);
    for (const made of [child, grandchild]) expect(await made.get('/users')).toMatchObject(refused);
    const parent = await programOf(ada, 'admin');
    await parent.post('/tokens', { name: 'child', scopes: ['read'], expiresInDays: 1 });
    expect((await ada.delete(`/tokens/${parent.token.split('_')[1]}`)).status).toBe(204);
    const names = (await ada.get('/tokens')).body.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['long', 'longer']);
  });

  it('does only what its scope permits, and its entries in the audit trail name its person and the token', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const reader = await programOf(ada, 'read');
    const keeper = await programOf(ada, 'keys');
    const key = { kind: 'user', userId: bob.id, name: 'laptop', models: ['demo'] };
    expect((await reader.get('/audit')).status).toBe(200);
    expect(await reader.post('/keys', key)).toMatchObject(unscoped);
    expect(await reader.patch(`/users/${bob.id}`, { blocked: true })).toMatchObject(unscoped);
    expect(await reader.post('/tokens', { name: 'more', scopes: ['admin'] })).toMatchObject(unscoped);
    const answer = await keeper.post('/keys', key);
    expect(answer).toMatchObject({ status: 201, body: { key: { owner: { id: bob.id }, adminSet: ['models'] } } });
    const [entry] = (await ada.get('/audit')).body.data;
    const from = { address: expect.stringContaining('127.0.0.1'), token: { name: 'ci' } };
    expect(entry).toMatchObject({ action: 'key.create', actor: { id: ada.id, name: 'Ada' }, from });
    expect(entry.from.session).toBeUndefined();
    expect((await keeper.delete(`/keys/${answer.body.key.id}`)).status).toBe(204);
    expect(await keeper.get('/audit')).toMatchObject(unscoped);
    expect(await keeper.patch('/settings', { membersMakeKeys: false })).toMatchObject(unscoped);
  });

  it('of a command line belongs to nobody, has the rights of an administrator, and is named in the trail', async () => {
    const { ada, accounts } = await openHouse();
    const wanted = { name: 'rtr', scopes: ['admin'], expiresAt: Date.now() + 60_000, madeAt: 'ada@box' } as const;
    const created = made(await accounts.adminTokens.create(wanted));
    const client = new AdminClient(ada.url, created.raw);
    expect((await client.post('/teams', { name: 'Blue' })).status).toBe(201);
    const [entry] = (await ada.get('/audit')).body.data;
    expect(entry).toMatchObject({ actor: { name: 'rtr' }, from: { token: { id: created.record.id, name: 'rtr' } } });
    const { body } = await client.post('/tokens', { name: 'child', scopes: ['read'] });
    expect(body.token).toMatchObject({ madeAt: 'ada@box', expiresAt: wanted.expiresAt });
    expect(body.token.owner).toBeUndefined();
    const command = made(await accounts.adminTokens.create({ ...wanted, isForCommand: true }));
    const wants = { name: 'x', scopes: ['read'] };
    const { body: kept } = await new AdminClient(ada.url, command.raw).post('/tokens', wants);
    await accounts.adminTokens.remove(command.record);
    expect(kept.token.expiresAt).toBeGreaterThan(Date.now() + 89 * 86_400_000);
    expect((await new AdminClient(ada.url, String(kept.raw)).get('/users')).status).toBe(200);
  });

  it('is one of at most 100 of the same person', async () => {
    const { ada, accounts } = await openHouse();
    const wanted = { name: 'n', scopes: ['read'], expiresAt: Date.now() + 60_000, ownerId: ada.id } as const;
    const all = await Promise.all(Array.from({ length: 105 }, () => accounts.adminTokens.create(wanted)));
    expect(all.filter((each) => each === 'too many')).toHaveLength(5);
    expect(await ada.post('/tokens', { name: 'n', scopes: ['read'] })).toMatchObject(refusal(409, 'too_many_tokens'));
  });
});

it('every changing operation is refused to a read-only token, whoever made it, and every administrative one to members and owners', async () => {
  const { ada, bob, eve, teamId } = await openTeam([], {
    furtherOperations: ({ accounts, log }) => credentialOperations({ accounts, log, authority: undefined }),
  });
  const reader = await programOf(ada, 'read');
  const owner = await programOf(bob, 'admin');
  const member = await programOf(eve, 'admin');
  const { body: document } = await reader.get('/openapi.json');
  const changes = Object.entries<Record<string, { operationId: string }>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'get')
      .map(([method, { operationId }]) => ({ method: method.toUpperCase(), path, operationId })),
  );
  expect(changes.length).toBeGreaterThan(30);
  const bodies: Record<string, unknown> = {
    createPerson: { email: 'new@example.com' },
    upsertPerson: { role: 'admin' },
    createTeam: { name: 'Red' },
    setTeamMember: { role: 'owner' },
    addTeamMember: { email: 'ada@example.com', role: 'owner' },
    createInvitation: { email: 'new@example.com', role: 'admin' },
    createKey: { kind: 'router', name: 'all' },
    upsertKey: { kind: 'router' },
    rotateKey: { overlapMs: 0 },
    createWebhook: { kind: 'router', url: 'https://example.com/', events: ['batch.*'] },
    rotateWebhook: { overlapMs: 0 },
    createToken: { name: 'more', scopes: ['admin'] },
    createWorkerCredential: { name: 'box', tier: 'gpu' },
  };
  /** The operations that owners of a team may use on the team, and everybody for themselves. */
  const ownersMay = new Set(['setTeamMember', 'addTeamMember', 'removeTeamMember', 'createToken']);
  const { body: key } = await ada.post('/keys', { kind: 'router', name: 'first' });
  const { body: webhook } = await ada.post('/webhooks', bodies['createWebhook']);
  const { body: token } = await ada.post('/tokens', { name: 'hers', scopes: ['read'] });
  const things = { keys: key.key.id, webhooks: webhook.webhook.id, tokens: token.token.id };
  const ids: Record<string, string> = { teams: teamId, users: ada.id, ...things };
  for (const { method, path, operationId } of changes) {
    const target = path
      .replace('{id}', ids[path.split('/')[1] ?? ''] ?? 'nothing')
      .replace('{user}', ada.id)
      .replace('{email}', 'ada@example.com')
      .replace(/\{\w+\}/g, 'Blue');
    const body = method === 'DELETE' ? undefined : (bodies[operationId] ?? {});
    expect(await reader.ask(method, target, body), operationId).toMatchObject(unscoped);
    if (operationId === 'createToken') continue;
    expect([403, 404], `${operationId} by a member`).toContain((await member.ask(method, target, body)).status);
    if (ownersMay.has(operationId)) continue;
    expect([403, 404], `${operationId} by an owner`).toContain((await owner.ask(method, target, body)).status);
  }
  const { body: after } = await ada.get('/users');
  expect(after).toMatchObject([{ role: 'admin', blocked: false }, { role: 'member' }, { role: 'member' }]);
});
