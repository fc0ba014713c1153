import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { changeAuthority, writeAuthority } from '#shared/broker/authority/authority-folder.ts';
import { issueCredential } from '#shared/broker/authority/credentials.ts';
import { readCertificateFacts } from '#shared/core/tls/read-certificate-facts.ts';
import { boxInvitationOperations } from '#services/console/api/credentials/box-invitation-operations.ts';
import type { BoxInvitationParts } from '#services/console/api/credentials/require-authority.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { openHouse, programOf } from '../../../helpers/console/open-console.ts';
import { denied, notFound, refusal, wrongField } from '../../../helpers/console/refusals.ts';
import { makeCertificates } from '../../../helpers/servers/make-certificates.ts';

const path = '/box-invitations';

/** A console whose router listens on the loopback interface, unless `listening` says otherwise. */
async function open(listening: Partial<BoxInvitationParts['listening']> = {}) {
  const folder = temporaryFolder();
  await writeAuthority(folder, await createAuthority('rtr', undefined));
  const parts = { publicUrl: undefined, host: '127.0.0.1', tlsFolder: undefined, hasRelay: true, ...listening };
  const house = await openHouse([], {
    furtherOperations: ({ accounts, log }) =>
      boxInvitationOperations({ accounts, log, authority: { folder, natsUrl: '' }, listening: parts }),
  });
  return { ...house, folder };
}

describe('an invitation of a machine', () => {
  it('is made with the line to run there, listed without its secret, and withdrawn', async () => {
    const { ada, accounts, apiLog } = await open({ publicUrl: 'https://llm.example.com/' });
    const before = Date.now();
    const { status, body } = await ada.post(path, {
      tiers: ['gpu', 'cli', 'gpu'],
      name: 'joes-box',
      expiresInMinutes: 5,
    });
    expect(status).toBe(201);
    const [, secret = ''] =
      /^npx --yes https:\/\/llm\.example\.com\/rtr-[\w.-]+\.tgz join https:\/\/llm\.example\.com#([\w-]{43})$/.exec(
        body.command,
      ) ?? [];
    expect(secret).not.toBe('');
    expect(body.note).toBeUndefined();
    const { id, createdAt, expiresAt } = body.invitation;
    expect(body.invitation).toEqual({ id, name: 'joes-box', tiers: ['gpu', 'cli'], createdAt, expiresAt });
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(expiresAt - createdAt).toBe(5 * 60_000);
    expect((await ada.get(path)).body).toEqual([body.invitation]);

    const redeemed = await accounts.boxInvitations.redeem(secret, 'UA');
    await accounts.boxInvitations.noteJoined(id, { box: 'joes-box-2', tokens: { gpu: 'ey' } });
    expect(redeemed).toMatchObject({ id, invitedBy: ada.id });
    const listed = (await ada.get(path)).body;
    expect(listed).toEqual([{ ...body.invitation, redeemedAt: expect.any(Number), box: 'joes-box-2' }]);
    expect((await ada.delete(`${path}/${id}`)).status).toBe(204);
    expect((await ada.get(path)).body).toEqual([]);
    expect(await ada.delete(`${path}/${id}`)).toMatchObject(notFound);

    const { entries } = await accounts.audit.list();
    const target = { kind: 'box invitation', id, name: 'joes-box' };
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'credential.uninvite', target },
      { action: 'credential.invite', target, details: { tiers: ['gpu', 'cli'], expiresAt } },
    ]);
    expect([JSON.stringify([listed, entries]), ...apiLog].join('\n')).not.toContain(secret);
  });

  it('is for a GPU worker and an hour by default, without a name', async () => {
    const { ada } = await open();
    const { invitation } = (await ada.post(path)).body;
    expect(invitation).toEqual({ ...invitation, tiers: ['gpu'], expiresAt: invitation.createdAt + 3_600_000 });
    expect(invitation).not.toHaveProperty('name');
  });

  it('has a name that no valid credential has, known tiers, and expires within a week', async () => {
    const { ada, folder } = await open();
    await changeAuthority(folder, async (authority) => {
      authority.issued.push((await issueCredential(authority, { role: 'gpu', name: 'taken' })).issued);
    });
    expect(await ada.post(path, { name: 'taken' })).toMatchObject(refusal(409, 'name_in_use', 'name'));
    for (const name of ['joe.box', '*', 'open', ''])
      expect(await ada.post(path, { name })).toMatchObject(wrongField('name'));
    expect(await ada.post(path, { tiers: [] })).toMatchObject(wrongField('tiers'));
    expect(await ada.post(path, { tiers: ['ingress'] })).toMatchObject(wrongField('tiers.0'));
    for (const expiresInMinutes of [0, 10_081, 1.5])
      expect(await ada.post(path, { expiresInMinutes })).toMatchObject(wrongField('expiresInMinutes'));
    expect((await ada.get(path)).body).toEqual([]);
  });

  it('is for administrators, and their tokens of the scope admin', async () => {
    const { ada, join: invite } = await open();
    const bob = await invite(ada, 'bob@example.com');
    expect(await bob.get(path)).toMatchObject(denied);
    expect(await bob.post(path)).toMatchObject(denied);
    expect(await bob.delete(`${path}/x`)).toMatchObject(denied);
    const [reader, program] = [await programOf(ada, 'read'), await programOf(ada, 'admin')];
    expect(await reader.post(path)).toMatchObject({ status: 403 });
    const created = await program.post(path);
    expect(created.status).toBe(201);
    expect((await reader.get(path)).body).toEqual({ data: [created.body.invitation] });
    expect((await program.delete(`${path}/${created.body.invitation.id}`)).status).toBe(204);
  });
});

describe('the line with which a machine joins', () => {
  it('pins the certificate that no authority has signed, and no other', async () => {
    const tlsFolder = temporaryFolder();
    const { ada } = await open({ publicUrl: 'https://10.0.0.7:8484', tlsFolder });
    const { ca, certFile } = makeCertificates(tlsFolder);
    writeFileSync(join(tlsFolder, 'tls.crt'), ca);
    const { spki, fingerprint } = readCertificateFacts(ca);
    const { command, note } = (await ada.post(path)).body;
    const [start, rest = ''] = command.split('#');
    expect(start).toBe(
      `curl -fsSk --pinnedpubkey 'sha256//${spki}' https://10.0.0.7:8484/install | sh -s -- join https://10.0.0.7:8484`,
    );
    expect(rest).toMatch(new RegExp(`^[\\w-]{43}\\.${fingerprint}$`));
    expect(note).toBeUndefined();
    writeFileSync(join(tlsFolder, 'tls.crt'), readFileSync(certFile));
    expect((await ada.post(path)).body.command).toMatch(/^npx --yes \S+\/rtr-[\w.-]+\.tgz join \S+#[\w-]{43}$/);
  });

  it('says what to do if other machines cannot use it', async () => {
    const { ada, url } = await open({ hasRelay: false });
    const { command, note } = (await ada.post(path)).body;
    const address = new URL(url).origin;
    expect(command).toContain(` join ${address}#`);
    expect(note).toContain(`Only this machine reaches ${address}: for others, start the router with rtr up --expose`);
    expect(note).toContain(`set NATS_RELAY_URL, unless a proxy passes ${address}/nats on`);
  });
});

it('an ingress without the folder of an authority says what to do to invite machines', async () => {
  const listening = { publicUrl: undefined, host: '127.0.0.1', tlsFolder: undefined, hasRelay: true };
  const { ada } = await openHouse([], {
    furtherOperations: ({ accounts, log }) =>
      boxInvitationOperations({ accounts, log, authority: undefined, listening }),
  });
  const refused = refusal(409, 'no_authority');
  expect(await ada.get(path)).toMatchObject(refused);
  expect(await ada.post(path)).toMatchObject(refused);
  expect((await ada.post(path)).body.error.message).toContain('CREDENTIALS_DIR is not set');
});
