import { beforeEach, describe, expect, it } from 'vitest';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { printAdminLink } from '#services/rtr/commands/admin-link.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeAdmin } from '../../../helpers/accounts/open-key-store.ts';
import { openKeyCommands, type OpenKeyCommands } from '../../../helpers/rtr/open-key-commands.ts';

let open: OpenKeyCommands;
let { accounts, context, lines } = {} as OpenKeyCommands;

beforeEach(async () => {
  open = await openKeyCommands();
  ({ accounts, context, lines } = open);
});

function tokenOf(link: string): string {
  expect(link).toMatch(/^https:\/\/llm\.example\.com\/link\/[\w-]{43}$/);
  return link.split('/').at(-1) ?? '';
}

async function invite(email: string, role: 'admin' | 'member'): Promise<UserRecord> {
  const wanted = { email, role, invitedBy: 'nobody', usableMs: 1_000 };
  const { token, invitation } = made(await accounts.invitations.create(wanted));
  return made(await accounts.links.acceptInvitation(token, invitation, { name: 'Eve', passwordHash: 'old' }, {}));
}

describe('rtr admin link', () => {
  it('creates the first administrator while there is none; only the newest link works', async () => {
    const old = await printAdminLink(context, {});
    const link = await printAdminLink({ ...context, json: true }, { email: 'who@example.com' });
    expect(JSON.parse(lines[1] ?? '')).toEqual({ kind: 'first-admin', link });
    expect(await accounts.links.find(tokenOf(old))).toBeUndefined();
    expect(await accounts.links.find(tokenOf(link))).toEqual({ kind: 'first-admin' });
    const ada = { name: 'Ada', email: 'ada@example.com', passwordHash: 'any' };
    expect(await accounts.links.createFirstAdmin(tokenOf(link), ada)).toMatchObject({ role: 'admin' });
  });

  it('makes the only administrator set a new password, which ends all sessions, and works once', async () => {
    const ada = await makeAdmin(open);
    const session = await accounts.sessions.open(ada);
    const link = await printAdminLink(context, {});
    expect(lines).toEqual([`Open this link within 24 hours to set a new password for ada@example.com: ${link}`]);
    expect(await accounts.links.find(tokenOf(link))).toMatchObject({ kind: 'password', user: { id: ada.id } });
    expect(await accounts.sessions.find(session ?? '')).toMatchObject({ id: ada.id });
    expect(await accounts.links.resetPassword(tokenOf(link), ada.id, 'new')).toMatchObject({ passwordHash: 'new' });
    expect(await accounts.sessions.find(session ?? '')).toBeUndefined();
    expect(await accounts.links.resetPassword(tokenOf(link), ada.id, 'newer')).toBeUndefined();
    expect((await accounts.audit.list()).entries.map(({ action }) => action)).toEqual(['user.password-link']);
  });

  it('refuses to choose between several administrators', async () => {
    await makeAdmin(open);
    const eve = await invite('eve@example.com', 'admin');
    await expect(printAdminLink(context, {})).rejects.toThrow(
      'The administrators are ada@example.com, eve@example.com.',
    );
    const link = await printAdminLink(context, { email: 'Eve@Example.com' });
    expect(await accounts.links.find(tokenOf(link))).toMatchObject({ user: { id: eve.id } });
  });

  it('serves members too, but not unknown addresses or blocked users', async () => {
    await makeAdmin(open);
    const eve = await invite('eve@example.com', 'member');
    const token = tokenOf(await printAdminLink(context, { email: 'eve@example.com' }));
    await expect(printAdminLink(context, { email: 'nobody@example.com' })).rejects.toMatchObject({ code: 'not_found' });
    await accounts.users.change(eve.id, { blocked: true }, 1);
    await expect(printAdminLink(context, { email: 'eve@example.com' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await accounts.links.find(token)).toBeUndefined();
    expect(await accounts.links.resetPassword(token, eve.id, 'new')).toBeUndefined();
  });

  it("refuses an address that a person has typed in until it is confirmed, but not the person's id", async () => {
    await makeAdmin(open);
    const eve = await invite('eve@example.com', 'member');
    await accounts.users.changeEmail(eve.id, 'boss@example.com', 'the person');
    const link = () => printAdminLink(context, { email: 'boss@example.com' });
    await expect(link).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(link).rejects.toThrow(`rtr users rename ${eve.id} --email boss@example.com`);
    const byId = await printAdminLink(context, { email: eve.id });
    expect(await accounts.links.find(tokenOf(byId))).toMatchObject({ user: { id: eve.id } });
    await accounts.users.noteEmail(eve.id, 'boss@example.com', { confirmed: true });
    expect(await accounts.links.find(tokenOf(await link()))).toMatchObject({ user: { id: eve.id } });
  });
});
