import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseCredential, roles } from '#shared/broker/connection/credential.ts';
import { tiers } from '#shared/core/tier.ts';
import { diagnoseCredential } from '#services/rtr/commands/doctor/diagnose-credential.ts';
import { initCredentials } from '#services/rtr/commands/credentials/init-credentials.ts';
import { issueCredentialFile } from '#services/rtr/commands/credentials/issue-credential-file.ts';
import { listCredentials } from '#services/rtr/commands/credentials/list-credentials.ts';
import { revokeCredential } from '#services/rtr/commands/credentials/revoke-credential.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { startSecuredNats } from '../../../helpers/servers/start-secured-nats.ts';
import { temporaryFolder, useFolder } from '../../../helpers/files/temporary-folder.ts';

const authority = useFolder();
beforeAll(() => initCredentials({ out: authority, prefix: 'rtr', print: () => undefined }));

function start() {
  const folder = temporaryFolder();
  const out = join(folder, 'authority');
  const said: string[] = [];
  const print = (line: string): void => void said.push(line);
  const issue = (name: string, validMs?: number, force = false) =>
    issueCredentialFile({
      authorityFolder: out,
      role: 'gpu',
      name,
      out: join(folder, `${name}.creds`),
      force,
      validMs,
      print,
    });
  return { folder, out, said, print, issue };
}

/** Starts the same after `rtr credentials init`. */
function startWithAuthority() {
  const started = start();
  cpSync(authority, started.out, { recursive: true });
  return started;
}

describe('rtr credentials', () => {
  it('init creates a credential per role, readable by its owner only, and changes nothing the next time', async () => {
    const { out, print, said } = start();
    await initCredentials({ out, prefix: 'mine', print });
    for (const role of roles) {
      const file = join(out, `${role}.creds`);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(parseCredential(readFileSync(file, 'utf8'))).toMatchObject({ role, name: role, prefix: 'mine' });
    }
    expect(statSync(join(out, 'authority.json')).mode & 0o777).toBe(0o600);
    const before = readFileSync(join(out, 'nats-auth.conf'), 'utf8');
    expect(before).not.toMatch(/\bS[OAU][A-Z2-7]{50}/);
    await initCredentials({ out, prefix: 'mine', print });
    expect(readFileSync(join(out, 'nats-auth.conf'), 'utf8')).toBe(before);
    expect(said.at(-1)).toContain('nothing was changed');
  });

  it('init that was interrupted creates everything the next time', async () => {
    const { out, print } = start();
    const inTheWay = join(out, 'tools.creds');
    mkdirSync(inTheWay, { recursive: true });
    await expect(initCredentials({ out, prefix: 'mine', print })).rejects.toThrow('tools.creds');
    rmdirSync(inTheWay);
    await initCredentials({ out, prefix: 'mine', print });
    for (const role of roles)
      expect(parseCredential(readFileSync(join(out, `${role}.creds`), 'utf8'))).toMatchObject({ role, name: role });
  });

  it('revoke that was interrupted can be repeated', async () => {
    const { out, print, issue, said } = startWithAuthority();
    await issue('joes-box');
    const inTheWay = join(out, 'nats-auth.conf');
    rmSync(inTheWay);
    mkdirSync(inTheWay);
    const revoke = (): Promise<void> => revokeCredential({ authorityFolder: out, name: 'joes-box', print });
    await expect(revoke()).rejects.toThrow('nats-auth.conf');
    rmdirSync(inTheWay);
    await revoke();
    expect(said.join('\n')).toContain('joes-box is revoked');
  });

  it('worker creates one more, from the same authority, for the given time', async () => {
    const { issue, folder } = startWithAuthority();
    await issue('joes-box', 90 * 86_400_000);
    const { name, role, expiresAt = 0 } = parseCredential(readFileSync(join(folder, 'joes-box.creds'), 'utf8'));
    expect({ name, role }).toEqual({ name: 'joes-box', role: 'gpu' });
    expect(expiresAt - Date.now()).toBeGreaterThan(89 * 86_400_000);
    await expect(issue('joes-box')).rejects.toThrow('there is a credential named joes-box');
    for (const name of ['joe.box', 'a b', '*', 'open', '']) await expect(issue(name)).rejects.toThrow('has up to 64');
  });

  it('worker creates a shared one, and says that the servers must read the configuration that names it', async () => {
    const { out, print, folder, said } = startWithAuthority();
    const config = (): string => readFileSync(join(out, 'nats-auth.conf'), 'utf8');
    const before = config();
    const file = join(folder, 'replicas.creds');
    const wanted = { authorityFolder: out, role: 'gpu', name: 'replicas', shared: true, out: file, print } as const;
    await expect(issueCredentialFile({ ...wanted, validMs: 60_000 })).rejects.toThrow(
      'a shared credential cannot expire',
    );
    expect(config()).toBe(before);
    await issueCredentialFile(wanted);
    expect(parseCredential(readFileSync(file, 'utf8'))).toMatchObject({
      name: 'replicas',
      role: 'gpu',
      isSigningKey: true,
    });
    expect(config()).not.toBe(before);
    expect(said.at(-1)).toContain('replicas is accepted as soon as every NATS server has read the new');
    said.length = 0;
    listCredentials({ authorityFolder: out, json: true, print });
    const listed = said.map((line) => JSON.parse(line) as { name: string; shared: boolean });
    expect(listed.flatMap(({ name, shared }) => (shared ? [name] : []))).toEqual([...tiers, 'replicas']);
  });

  it('worker replaces no file, and then makes no credential', async () => {
    const { issue, folder } = startWithAuthority();
    writeFileSync(join(folder, 'joes-box.creds'), 'mine');
    await expect(issue('joes-box')).rejects.toThrow('joes-box.creds exists already: name another path with --out');
    await issue('joes-box', undefined, true);
    expect(parseCredential(readFileSync(join(folder, 'joes-box.creds'), 'utf8')).name).toBe('joes-box');
  });

  it.each([false, true])('worker whose file cannot be written keeps the name free (--force: %s)', async (force) => {
    const { issue, folder, out } = startWithAuthority();
    const name = 'gone';
    const rest = { authorityFolder: out, role: 'gpu', name, force, print: () => undefined } as const;
    const file = join(folder, 'missing', 'gone.creds');
    await expect(issueCredentialFile({ ...rest, out: file })).rejects.toThrow('gone.creds cannot be used');
    await issue(name);
    expect(parseCredential(readFileSync(join(folder, 'gone.creds'), 'utf8')).name).toBe(name);
    expect(statSync(join(folder, 'gone.creds')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).toSorted()).toEqual(['authority', 'gone.creds']);
  });

  it('list shows every credential that was created, including those created concurrently', async () => {
    const { out, print, issue, said } = startWithAuthority();
    const names = ['one', 'two', 'three'];
    await Promise.all(names.map((name) => issue(name)));
    said.length = 0;
    listCredentials({ authorityFolder: out, json: true, print });
    const known = said.map((line) => (JSON.parse(line) as { name: string }).name);
    expect(known.slice(roles.length).toSorted()).toEqual(names.toSorted());
  });

  it('revoke marks a credential as revoked in the list, and frees its name', async () => {
    const { out, print, issue, said } = startWithAuthority();
    await issue('joes-box');
    await issue('short', 1);
    await revokeCredential({ authorityFolder: out, name: 'joes-box', print });
    await issue('joes-box', undefined, true);
    said.length = 0;
    listCredentials({ authorityFolder: out, json: true, print });
    const listed = said.map((line) => JSON.parse(line) as { name: string; state: string });
    const states = listed.slice(-3).map(({ name, state }) => `${name}: ${state}`);
    expect(states).toEqual(['joes-box: revoked', 'short: expired', 'joes-box: valid']);
    await expect(revokeCredential({ authorityFolder: out, name: 'nobody', print })).rejects.toThrow(
      'no credential named nobody',
    );
  });
});

describe('the diagnosis of a credential', () => {
  it('says whether the broker accepts it, and if not, why', async () => {
    const nats = await startSecuredNats({ prefix: 'rtr' });
    onTestFinished(() => nats.stop());
    const ask = (NATS_CREDENTIALS: string, role?: 'gpu' | 'cloud') =>
      diagnoseCredential({ NATS_URL: `nats://127.0.0.1:${nats.port}`, NATS_CREDENTIALS, role });
    const missing = (detail: string) => ({ state: 'missing', detail: expect.stringContaining(detail) });
    const accepted = { state: 'ok', detail: 'gpu, for gpu: the broker accepts it' };
    expect(await ask(nats.files.gpu, 'gpu')).toMatchObject(accepted);
    expect(await ask(nats.files.gpu, 'cloud')).toMatchObject(missing('gpu, for gpu: not for cloud'));
    const old = await nats.issue({ role: 'gpu', name: 'old', validMs: -5_000 });
    expect(await ask(old)).toMatchObject(missing('it expired on'));
    expect(await ask('/nowhere')).toMatchObject(missing('/nowhere'));
    const { folder, issue } = startWithAuthority();
    await issue('stranger');
    expect(await ask(join(folder, 'stranger.creds'))).toMatchObject(missing('does not accept it'));
    await nats.stop();
    expect(await ask(nats.files.cloud)).toMatchObject({ state: 'missing' });
  });

  it('says so when nothing listens at a WebSocket address', async () => {
    const { folder, issue } = startWithAuthority();
    await issue('far-away');
    const NATS_URL = `ws://127.0.0.1:${await findFreePort()}`;
    const found = await diagnoseCredential({ NATS_URL, NATS_CREDENTIALS: join(folder, 'far-away.creds') });
    expect(found).toMatchObject({ state: 'missing', detail: 'the broker cannot be reached with it: no connection' });
  });
});
