import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createUser } from '@nats-io/jwt';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import {
  changeAuthority,
  readAuthority,
  takeReloaderLock,
  writeAuthority,
} from '#shared/broker/authority/authority-folder.ts';
import { issueCredential, issueToken } from '#shared/broker/authority/credentials.ts';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import { credentialOperations } from '#services/console/api/credentials/credential-operations.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { openHouse, programOf } from '../../../helpers/console/open-console.ts';
import { denied, refusal } from '../../../helpers/console/refusals.ts';

const path = '/worker-credentials';
const natsUrl = 'nats://rtr:pass@10.0.0.7:4222, wss://router.example.com/nats?x=pass';

/** A console with a cluster's authority, which has made one credential for the ingresses. */
async function open() {
  const folder = temporaryFolder();
  await writeAuthority(folder, await createAuthority('rtr', undefined));
  await changeAuthority(folder, async (authority) => {
    authority.issued.push((await issueCredential(authority, { role: 'ingress', name: 'ingress' })).issued);
  });
  const authority = { folder, natsUrl };
  const house = await openHouse([], {
    furtherOperations: ({ accounts, log }) => credentialOperations({ accounts, log, authority }),
  });
  return { ...house, folder };
}

describe('a credential of a worker', () => {
  it('is made and shown once, with the command that uses it and no password of NATS', async () => {
    const { ada, folder, apiLog, accounts } = await open();
    const before = Date.now();
    const { status, body } = await ada.post(path, { name: 'joes-box', tier: 'gpu', expiresInDays: 90 });
    expect(status).toBe(201);
    const addresses = 'nats://10.0.0.7:4222,wss://router.example.com/nats';
    expect(body.command).toBe(`rtr worker gpu --nats ${addresses} --credentials joes-box.creds`);
    expect(parseCredential(body.text)).toMatchObject({ role: 'gpu', name: 'joes-box', prefix: 'rtr' });
    const { expiresAt, issuedAt } = body.credential;
    expect(body.credential).toEqual({ name: 'joes-box', tier: 'gpu', issuedAt, expiresAt });
    expect(issuedAt).toBeGreaterThanOrEqual(before);
    expect(expiresAt - issuedAt).toBe(90 * 86_400_000);
    const listed = await ada.get(path);
    expect(listed.body).toEqual([body.credential]);
    const [entry] = (await accounts.audit.list()).entries;
    const target = { kind: 'credential', id: 'joes-box' };
    expect(entry).toMatchObject({ action: 'credential.create', target, details: { tier: 'gpu', expiresAt } });
    const kept = [JSON.stringify(listed.body), JSON.stringify(entry), ...apiLog].join('\n');
    expect(kept).not.toContain(new TextDecoder().decode(parseCredential(body.text).seed));
    expect(kept).not.toMatch(/\bS[OAU][A-Z2-7]{50}/);
    expect(readAuthority(folder).issued.map(({ name }) => name)).toEqual(['ingress', 'joes-box']);
  });

  it('is revoked by its name, which is then free, and the answer says what is left to do', async () => {
    const { ada, folder, accounts } = await open();
    const conf = readFileSync(join(folder, 'nats-auth.conf'), 'utf8');
    await ada.post(path, { name: 'joes-box', tier: 'cli' });
    expect(readFileSync(join(folder, 'nats-auth.conf'), 'utf8')).toBe(conf);
    const taken = await ada.post(path, { name: 'joes-box', tier: 'gpu' });
    expect(taken).toMatchObject(refusal(409, 'name_in_use', 'name'));
    const { status, body } = await ada.delete(`${path}/joes-box`);
    expect(status).toBe(200);
    expect(body.credential).toMatchObject({ name: 'joes-box', tier: 'cli', revokedAt: expect.any(Number) });
    expect(body.instruction).toContain(`${folder}/nats-auth.conf`);
    expect(body.instruction).toContain('nats-server --signal reload');
    expect(readFileSync(join(folder, 'nats-auth.conf'), 'utf8')).not.toBe(conf);
    const [entry] = (await accounts.audit.list()).entries;
    expect(entry).toMatchObject({ action: 'credential.revoke', target: { id: 'joes-box' } });
    expect(await ada.delete(`${path}/joes-box`)).toMatchObject({ status: 404 });
    expect(await ada.post(path, { name: 'joes-box', tier: 'gpu' })).toMatchObject({ status: 201 });
    expect((await ada.get(path)).body).toMatchObject([body.credential, { name: 'joes-box', tier: 'gpu' }]);
  });

  it('is revoked without anything left to do while `rtr up` reloads the NATS server', async () => {
    const { ada, folder } = await open();
    const lock = takeReloaderLock(folder);
    if ('holder' in lock) throw new Error('another process has the lock');
    await ada.post(path, { name: 'joes-box', tier: 'gpu' });
    const { status, body } = await ada.delete(`${path}/joes-box`);
    expect(status).toBe(200);
    expect(body).toEqual({ credential: expect.objectContaining({ name: 'joes-box', tier: 'gpu' }) });
    lock.release();
  });

  it('is one of several of a machine, for each tier, which are listed page by page and revoked together', async () => {
    const { ada, folder } = await open();
    const key = createUser().getPublicKey();
    await changeAuthority(folder, async (authority) => {
      const tokens = [];
      for (const role of ['gpu', 'cli'] as const) tokens.push(await issueToken(authority, { role, name: 'joe', key }));
      authority.issued.push(...tokens.map(({ issued }) => ({ ...issued, issuedAt: 1_000_000 })));
    });
    const program = await programOf(ada, 'admin');
    const first = await program.get(`${path}?limit=1`);
    const second = await program.get(`${path}?limit=1&cursor=${first.body.next}`);
    expect([...first.body.data, ...second.body.data]).toMatchObject([{ tier: 'cli' }, { tier: 'gpu' }]);
    expect(second.body).not.toHaveProperty('next');
    expect((await program.delete(`${path}/joe`)).status).toBe(200);
    const revoked = readAuthority(folder).issued.filter(({ revokedAt }) => revokedAt !== undefined);
    expect(revoked).toMatchObject([
      { name: 'joe', role: 'gpu' },
      { name: 'joe', role: 'cli' },
    ]);
  });

  it('has a name that can be a part of a subject, and never has the role of an ingress or a batch runner', async () => {
    const { ada } = await open();
    const field = async (body: object) => {
      const answer = await ada.post(path, { name: 'a', tier: 'gpu', ...body });
      return [answer.status, answer.body.error?.field];
    };
    for (const name of ['joe.box', 'a b', '*', 'open', '']) expect(await field({ name })).toEqual([400, 'name']);
    for (const tier of ['ingress', 'runner', '']) expect(await field({ tier })).toEqual([400, 'tier']);
    expect(await field({ expiresInDays: 0 })).toEqual([400, 'expiresInDays']);
    expect((await ada.get(path)).body).toEqual([]);
    expect(await field({ name: 'ingress' })).toEqual([409, 'name']);
    expect(await ada.delete(`${path}/ingress`)).toMatchObject({ status: 404 });
  });

  it('is for administrators only', async () => {
    const { ada, join: invite } = await open();
    const bob = await invite(ada, 'bob@example.com');
    expect(await bob.get(path)).toMatchObject(denied);
    expect(await bob.post(path, { name: 'mine', tier: 'gpu' })).toMatchObject(denied);
    expect(await bob.delete(`${path}/mine`)).toMatchObject(denied);
  });
});

it('an ingress without the folder of an authority refers people to rtr for credentials', async () => {
  const { ada } = await openHouse([], {
    furtherOperations: ({ accounts, log }) => credentialOperations({ accounts, log, authority: undefined }),
  });
  const refused = { status: 409, body: { error: { code: 'no_authority', message: expect.stringContaining('rtr') } } };
  expect(await ada.get(path)).toMatchObject(refused);
  expect(await ada.post(path, { name: 'a', tier: 'gpu' })).toMatchObject(refused);
  expect(await ada.delete(`${path}/a`)).toMatchObject(refused);
});
