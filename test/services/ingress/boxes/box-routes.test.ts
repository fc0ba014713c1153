import { createUser, type KeyPair } from '@nats-io/jwt';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import express from 'express';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { changeAuthority, readAuthority, writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { issueCredential, revokeCredentials } from '#shared/broker/authority/credentials.ts';
import { formatCredential, parseCredential } from '#shared/broker/connection/credential.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { emptyRegistry } from '#shared/registry/registry.ts';
import type { BoxContext } from '#services/ingress/boxes/box-context.ts';
import { createBoxRoutes } from '#services/ingress/boxes/box-routes.ts';
import { ArrivingBodies } from '#services/ingress/http/arriving-bodies.ts';
import { assignRequestId } from '#services/ingress/http/request-id.ts';
import { createBoxNotes } from '#services/console/api/credentials/create-box-notes.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import type { ApiAnswer } from '../../../helpers/console/console-client.ts';
import { refusal } from '../../../helpers/console/refusals.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { startSecuredNats } from '../../../helpers/servers/start-secured-nats.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';

interface Options {
  /** Folder of an authority. Default: a new one, which has made a credential for the ingress. */
  folder?: string | undefined;
  entries?: Record<string, object>;
}

async function newAuthority(): Promise<string> {
  const folder = temporaryFolder();
  const authority = await createAuthority('rtr', undefined);
  authority.issued.push((await issueCredential(authority, { role: 'ingress', name: 'ingress' })).issued);
  await writeAuthority(folder, authority);
  return folder;
}

/** The routes on a server of their own, which trusts `X-Forwarded-For`. */
async function open(options: Options = {}) {
  const folder = 'folder' in options ? options.folder : await newAuthority();
  const store = await openKeyStore();
  const { accounts } = store;
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const context = {
    config: { BODY_TIMEOUT_MS: 5_000 } as BoxContext['config'],
    serving: {
      store: { assertIntact: () => undefined } as BoxContext['serving']['store'],
      accounts,
      registry: { current: () => ({ ...emptyRegistry, credentials: options.entries ?? {} }) },
    },
    arrivingBodies: new ArrivingBodies(1024 ** 2),
    authorityFolder: folder,
    log,
  };
  const app = express();
  app.set('trust proxy', true);
  app.use(assignRequestId, createBoxRoutes(context, createBoxNotes({ accounts, log })));
  const url = await serveInTest(app);
  const send = async (body: string, headers: Record<string, string> = {}, path = 'join'): Promise<ApiAnswer> => {
    const answer = await fetch(`${url}/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
  };
  const ask = (token: string, key: string, host = 'Joes-Box.local', from = '10.0.0.1') =>
    send(JSON.stringify({ v: 1, token, key, host, more: true }), { 'x-forwarded-for': from });
  const invite = async (fields: { name?: string; tiers?: Tier[]; usableMs?: number } = {}) =>
    made(
      await accounts.boxInvitations.create({ tiers: ['gpu'], usableMs: 3_600_000, invitedBy: undefined, ...fields }),
    );
  const leave = (name: string, user: KeyPair, time = Date.now(), from = '10.0.0.1') => {
    const signed = user.sign(new TextEncoder().encode(JSON.stringify({ name, time })));
    const body = { v: 1, name, time, signature: Buffer.from(signed).toString('base64url') };
    return send(JSON.stringify(body), { 'x-forwarded-for': from }, 'leave');
  };
  return { ...store, url, send, ask, invite, leave, lines, folder: folder ?? '' };
}

const newKey = (): string => createUser().getPublicKey();

describe('a box with an invitation', () => {
  it('gets a token for each tier under one name, and is in the authority and the audit trail', async () => {
    const { ask, invite, folder, accounts, lines } = await open();
    const { secret, invitation } = await invite({ tiers: [...tiers] });
    const user = createUser();
    const { status, body, headers } = await ask(secret, user.getPublicKey());
    expect([status, body]).toMatchObject([200, { v: 1, name: 'joes-box', broker: '/nats' }]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(Object.keys(body.credentials)).toEqual([...tiers]);
    for (const tier of tiers)
      expect(parseCredential(formatCredential(body.credentials[tier], user, undefined))).toMatchObject({
        role: tier,
        name: 'joes-box',
        prefix: 'rtr',
        expiresAt: undefined,
      });
    const key = user.getPublicKey();
    const issued = readAuthority(folder).issued.slice(1);
    expect(issued).toMatchObject(tiers.map((role) => ({ role, name: 'joes-box', key })));
    expect(await accounts.boxInvitations.list()).toMatchObject([{ id: invitation.id, box: 'joes-box' }]);
    const [entry] = (await accounts.audit.list()).entries;
    expect(entry).toMatchObject({
      actor: null,
      action: 'credential.join',
      target: { kind: 'credential', id: 'joes-box' },
      details: { tiers: [...tiers], host: 'Joes-Box.local', invitation: invitation.id },
      from: { address: '10.0.0.1' },
    });
    expect([JSON.stringify(entry), ...lines].join('\n')).not.toContain(secret);
  });

  it('gets the same answer again, also if it asks many times at once', async () => {
    const { ask, invite, folder, actions } = await withActions();
    const { secret } = await invite();
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(secret, key)));
    answers.push(await ask(secret, key, 'another-host'));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body);
    expect(readAuthority(folder).issued).toHaveLength(2);
    expect(await actions()).toEqual(['credential.join']);
    expect(await ask(secret, newKey())).toMatchObject(refusal(409, 'invitation_used'));
  });

  it('keeps its name if the answer was lost after the authority was written', async () => {
    const { ask, invite, folder, redis, prefix } = await open();
    const { secret, invitation } = await invite({ name: 'joe' });
    const key = newKey();
    const first = await ask(secret, key);
    // The state of a process that ended between the two writes.
    await redis.hdel(`${prefix}box-invitation:${invitation.id}`, 'box', 'tokens');
    const second = await ask(secret, key);
    expect([first.body.name, second.body.name]).toEqual(['joe', 'joe']);
    expect(readAuthority(folder).issued).toHaveLength(2);
    expect(second.body.credentials.gpu).toContain('.');
  });

  it('is not issued tokens once more after it was revoked', async () => {
    const { ask, invite, folder, redis, prefix } = await open();
    const { secret, invitation } = await invite();
    const key = newKey();
    await ask(secret, key);
    await changeAuthority(folder, (authority) => void revokeCredentials(authority, ({ name }) => name === 'joes-box'));
    await redis.hdel(`${prefix}box-invitation:${invitation.id}`, 'box', 'tokens');
    expect(await ask(secret, key)).toMatchObject(refusal(409, 'invitation_used'));
    expect((await ask((await invite()).secret, newKey())).body.name).toBe('joes-box');
  });

  it('gets a name that no other box has, and further tiers under the name that it has', async () => {
    const { ask, invite, folder } = await open({ entries: { trusted: {} } });
    const join = async (host: string, name?: string) =>
      (await ask((await invite(name === undefined ? {} : { name })).secret, newKey(), host)).body.name;
    expect([await join('joes-box'), await join('joes-box'), await join('x', 'joes-box')]).toEqual([
      'joes-box',
      'joes-box-2',
      'joes-box-3',
    ]);
    expect([await join('trusted'), await join('gpu'), await join('trusted', 'trusted')]).toEqual([
      'trusted-2',
      'gpu-2',
      'trusted',
    ]);
    const key = newKey();
    await ask((await invite({ name: 'jane' })).secret, key);
    const { body } = await ask((await invite({ name: 'other', tiers: ['gpu', 'cli'] })).secret, key);
    expect([body.name, Object.keys(body.credentials)]).toEqual(['jane', ['gpu', 'cli']]);
    expect(readAuthority(folder).issued.filter(({ name }) => name === 'jane')).toHaveLength(2);
  });

  it('does not join with the key of another component, whose revocation would follow', async () => {
    const { ask, invite, folder } = await open();
    const [ingress] = readAuthority(folder).issued;
    expect(await ask((await invite()).secret, ingress?.key ?? '')).toMatchObject(refusal(400, 'invalid_request'));
    const damaged = newKey().replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    expect(await ask((await invite()).secret, damaged)).toMatchObject(refusal(400, 'invalid_request'));
    expect(readAuthority(folder).issued).toEqual([ingress]);
  });

  it('uses the broker with its own secret key, and with none of its tiers once its name is revoked', async () => {
    const nats = stopAfterTest(await startSecuredNats({ prefix: 'rtr' }));
    const { ask, invite } = await open({ folder: nats.folder });
    const user = createUser();
    const { body } = await ask((await invite({ tiers: ['gpu', 'cli'] })).secret, user.getPublicKey());
    const connect = async (tier: 'gpu' | 'cli') => {
      const file = join(nats.folder, `box-${tier}.creds`);
      writeFileSync(file, formatCredential(body.credentials[tier], user, undefined));
      return nats.connectWith(file);
    };
    const connections = [await connect('gpu'), await connect('cli')];
    for (const { nc } of connections) await nc.flush();
    await nats.revoke('joes-box');
    await until(() => expect(connections.map(({ disconnects }) => disconnects.length > 0)).toEqual([true, true]));
  });
});

async function withActions() {
  const opened = await open();
  const actions = async () => (await opened.accounts.audit.list()).entries.map(({ action }) => action);
  return { ...opened, actions };
}

describe('a box that leaves', () => {
  it('revokes its credentials with the signature of its key, and no others', async () => {
    const { ask, invite, leave, folder, actions } = await withActions();
    const [joe, jane] = [createUser(), createUser()];
    await ask((await invite({ name: 'joe', tiers: ['gpu', 'cli'] })).secret, joe.getPublicKey());
    await ask((await invite({ name: 'jane' })).secret, jane.getPublicKey());
    const refused = refusal(401, 'signature_refused');
    expect(await leave('jane', joe)).toMatchObject(refused);
    expect(await leave('ingress', joe)).toMatchObject(refused);
    expect(await leave('nobody', joe)).toMatchObject(refused);
    expect((await leave('joe', joe)).status).toBe(204);
    expect(await leave('joe', joe)).toMatchObject(refused);
    const { issued } = readAuthority(folder);
    const revoked = issued.filter(({ revokedAt }) => revokedAt !== undefined);
    expect(revoked).toMatchObject([
      { name: 'joe', role: 'gpu' },
      { name: 'joe', role: 'cli' },
    ]);
    expect(issued).toHaveLength(4);
    expect(await actions()).toEqual(['credential.leave', 'credential.join', 'credential.join']);
  });

  it('leaves however many others of its network have left or were refused to join', async () => {
    const { ask, invite, leave } = await open();
    for (let tries = 0; tries < 31; tries++) await ask('A'.repeat(43), newKey());
    for (let count = 0; count < 31; count++) {
      const box = createUser();
      await ask((await invite({ name: `box-${count}` })).secret, box.getPublicKey());
      expect((await leave(`box-${count}`, box)).status).toBe(204);
    }
  });

  it('is refused with a damaged signature, and after thirty requests from its address', async () => {
    const { ask, invite, leave, send, folder } = await open();
    const joe = createUser();
    await ask((await invite({ name: 'joe' })).secret, joe.getPublicKey());
    const from = { 'x-forwarded-for': '10.0.0.1' };
    for (const signature of ['', 'x', 'A'.repeat(86), 'A'.repeat(88)])
      expect(await send(JSON.stringify({ v: 1, name: 'joe', time: 1, signature }), from, 'leave')).toMatchObject(
        refusal(401, 'signature_refused'),
      );
    for (let tries = 4; tries < 30; tries++) await leave('nobody', joe);
    expect(await leave('joe', joe)).toMatchObject(refusal(429, 'rate_limit_exceeded'));
    expect(readAuthority(folder).issued.filter(({ revokedAt }) => revokedAt !== undefined)).toEqual([]);
    expect((await leave('joe', joe, 1, '10.0.0.2')).status).toBe(204);
  });
});

describe('a stranger who wants to join', () => {
  it('is refused with a reason, and after thirty tries of an address has to wait, while boxes join', async () => {
    const { ask, invite } = await open();
    const wrong = 'A'.repeat(43);
    for (let tries = 0; tries < 30; tries++)
      expect(await ask(wrong, newKey())).toMatchObject(refusal(401, 'invitation_unknown'));
    const refused = await ask(wrong, newKey());
    expect(refused).toMatchObject(refusal(429, 'rate_limit_exceeded'));
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(await ask(wrong, newKey(), 'x', '10.0.0.2')).toMatchObject(refusal(401, 'invitation_unknown'));
    expect(await ask((await invite()).secret, newKey())).toMatchObject({ status: 200 });
  });

  it('is refused without an object of the right form, in small bodies, by POST', async () => {
    const { send, url } = await open();
    const [token, key, host] = ['A'.repeat(43), newKey(), 'x'];
    const invalid = refusal(400, 'invalid_request');
    for (const body of [
      '',
      '[]',
      'x',
      '{}',
      ...[{ v: 2 }, { key: 'x' }, { token: 1 }, { host: 'x'.repeat(256) }].map((wrong) =>
        JSON.stringify({ v: 1, token, key, host, ...wrong }),
      ),
    ])
      expect(await send(body)).toMatchObject(invalid);
    expect(await send('x', { 'content-type': 'text/plain' })).toMatchObject(invalid);
    expect(await send(JSON.stringify({ host: 'x'.repeat(5_000) }))).toMatchObject(refusal(413, 'body_too_large'));
    const read = await fetch(`${url}/api/join`);
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await read.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
  });

  it('learns that a router without an authority lets no boxes join', async () => {
    const { ask } = await open({ folder: undefined });
    expect(await ask('A'.repeat(43), newKey())).toMatchObject(refusal(409, 'no_authority'));
  });
});
