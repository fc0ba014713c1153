import { cpSync, mkdirSync, readFileSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { changeAuthority, readAuthority } from '#shared/broker/authority/authority-folder.ts';
import { issueCredential, revokeCredentials } from '#shared/broker/authority/credentials.ts';
import { createAuthorityFolder, ensureAuthority, ownCredentialFile } from '#shared/broker/authority/own-credentials.ts';
import { parseCredential, roles, type Role } from '#shared/broker/connection/credential.ts';
import { temporaryFolder, useFolder } from '../../../helpers/files/temporary-folder.ts';

const template = useFolder();
beforeAll(() => createAuthorityFolder(template, 'rtr'));

/** Returns a folder with an authority. */
function copyFolder(): string {
  const folder = join(temporaryFolder(), 'credentials');
  cpSync(template, folder, { recursive: true });
  return folder;
}

const readOwn = (folder: string, role: Role): string => readFileSync(ownCredentialFile(folder, role), 'utf8');
const readConfig = (folder: string): string => readFileSync(join(folder, 'nats-auth.conf'), 'utf8');
const readAll = (folder: string): string[] => [readConfig(folder), ...roles.map((role) => readOwn(folder, role))];

describe("a cluster's own credentials", () => {
  it('are made once, and a start that was interrupted before is repeated', async () => {
    const folder = join(temporaryFolder(), 'credentials');
    const inTheWay = ownCredentialFile(folder, 'tools');
    mkdirSync(inTheWay, { recursive: true });
    await expect(ensureAuthority(folder, 'mine')).rejects.toThrow('tools.creds');
    rmdirSync(inTheWay);
    await ensureAuthority(folder, 'mine');
    const before = readAll(folder);
    for (const role of roles)
      expect(parseCredential(readOwn(folder, role))).toMatchObject({ role, name: role, prefix: 'mine' });
    await ensureAuthority(folder, 'mine');
    expect(readAll(folder)).toEqual(before);
  });

  it('are made anew if they are missing, revoked or of another authority, and the others stay', async () => {
    const folder = copyFolder();
    await changeAuthority(folder, (authority) => void revokeCredentials(authority, ({ name }) => name === 'ingress'));
    const [revoked, kept] = [readOwn(folder, 'ingress'), readOwn(folder, 'cli')];
    rmSync(ownCredentialFile(folder, 'gpu'));
    writeFileSync(ownCredentialFile(folder, 'runner'), 'damaged');
    const other = join(temporaryFolder(), 'other');
    await createAuthorityFolder(other, 'rtr');
    cpSync(ownCredentialFile(other, 'tools'), ownCredentialFile(folder, 'tools'));
    const { issued } = await ensureAuthority(folder, 'rtr');
    expect(readOwn(folder, 'ingress')).not.toBe(revoked);
    expect(readOwn(folder, 'cli')).toBe(kept);
    const names = roles.map((role) => parseCredential(readOwn(folder, role)).name);
    // A name that a valid credential has is not used again.
    expect(names).toEqual(['ingress', 'runner-2', 'gpu-2', 'cli', 'cloud', 'tools-2']);
    expect(issued.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    const gpuKey = issued.find(({ name }) => name === 'gpu-2')?.key ?? 'no key';
    const [, account = ''] = /resolver_preload \{\n {2}\w+: [\w-]+\.([\w-]+)/.exec(readConfig(folder)) ?? [];
    expect(Buffer.from(account, 'base64url').toString()).toContain(gpuKey);
  });

  it('that a person has made stay as they are', async () => {
    const folder = copyFolder();
    const made = await changeAuthority(folder, async (authority) => {
      revokeCredentials(authority, ({ name }) => name === 'gpu');
      const { issued } = await issueCredential(authority, { role: 'gpu', name: 'gpu' });
      authority.issued.push(issued);
      return issued;
    });
    const { issued } = await ensureAuthority(folder, 'rtr');
    expect(issued.find(({ key }) => key === made.key)).toEqual(made);
    expect(parseCredential(readOwn(folder, 'gpu')).name).toBe('gpu-2');
  });

  it('come with a configuration for the servers, which is made anew if it is missing or of another authority', async () => {
    const folder = copyFolder();
    const before = readConfig(folder);
    const operator = /operator: .*/.exec(before)?.[0];
    rmSync(join(folder, 'nats-auth.conf'));
    await ensureAuthority(folder, 'rtr');
    expect(readConfig(folder)).toContain(operator);
    writeFileSync(join(folder, 'nats-auth.conf'), before.replace(/operator: .*/, 'operator: other'));
    await ensureAuthority(folder, 'rtr');
    expect(readConfig(folder)).toContain(operator);
  });

  it('are made anew with the permissions of this release if another release has made them', async () => {
    const folder = copyFolder();
    const [config, ingress, gpu] = [readConfig(folder), readOwn(folder, 'ingress'), readOwn(folder, 'gpu')];
    const earlier = config.replace(/# Permissions: .*/, '# Permissions: others');
    expect(earlier).not.toBe(config);
    writeFileSync(join(folder, 'nats-auth.conf'), earlier);
    await ensureAuthority(folder, 'rtr');
    expect(readConfig(folder)).toContain(/# Permissions: .*/.exec(config)?.[0]);
    expect(readOwn(folder, 'gpu')).toBe(gpu);
    expect(readOwn(folder, 'ingress')).not.toBe(ingress);
    const named = readAuthority(folder).issued.filter(({ name }) => name === 'ingress');
    expect(named.map(({ revokedAt }) => revokedAt !== undefined)).toEqual([true, false]);
  });

  it('are refused for a cluster with another prefix, and if the authority is damaged', async () => {
    const folder = copyFolder();
    await expect(ensureAuthority(folder, 'other')).rejects.toThrow(
      `${folder} has the credentials of the cluster rtr, but RTR_PREFIX is other: set RTR_PREFIX=rtr, or`,
    );
    writeFileSync(join(folder, 'authority.json'), '{');
    await expect(ensureAuthority(folder, 'rtr')).rejects.toThrow(`${folder}/authority.json: this is not what`);
  });
});
