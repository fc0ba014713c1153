import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { startScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';
import { joinConsole } from '../../helpers/console/open-as.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { adminCommandsOf, type AdminCommands } from '../../helpers/rtr/admin-commands.ts';
import { useStarted } from '../../helpers/use-started.ts';
import { linkPath } from '../../helpers/console/link-path.ts';
import { temporaryFolder } from '../../helpers/files/temporary-folder.ts';

let ada: ConsoleClient;

const cluster = useStarted(() => startScriptedCluster());
const rtr = adminCommandsOf(cluster);
beforeAll(async () => {
  ({ client: ada } = await firstAdministrator(cluster));
});

/** Returns the commands with a token that a person creates in the console. */
async function withToken(client: ConsoleClient, scopes: string[]): Promise<AdminCommands> {
  const { status, body } = await client.post('/tokens', { name: 'ci', scopes });
  expect(status).toBe(201);
  return adminCommandsOf({ ...cluster, token: body.raw });
}

describe('a command without a token, where the account store can be reached', () => {
  it('creates a token that is gone at its end, and the audit trail names the token and the command line', async () => {
    await rtr('users', 'create', 'bob@example.com', '--name', 'Bob');
    const [entry] = (await ada.get('/audit?action=user.create')).body.data;
    expect(entry).toMatchObject({
      actor: { id: expect.stringMatching(/^token:/), name: 'rtr' },
      target: { name: 'Bob' },
      from: { token: { name: 'rtr' }, commandLine: expect.stringMatching(/^.+@.+$/), address: expect.any(String) },
    });
    expect((await ada.get('/tokens')).body).toEqual([]);
    const text = (await rtr('audit', 'list', '--action', 'user.create')).join('\n');
    expect(text).toContain(`command-line=${entry.from.commandLine} token=rtr`);
  });

  it('reports that the router uses another store', async () => {
    const elsewhere = adminCommandsOf({ url: cluster.url, prefix: `${cluster.prefix}x` });
    await expect(elsewhere('users', 'list')).rejects.toThrow(
      /^The router at http:\S+ does not use the account store at .*: set RTR_ADMIN_TOKEN to an admin token of the router\.$/,
    );
  });

  it('names the router that does not answer', async () => {
    const gone = adminCommandsOf({ url: 'http://127.0.0.1:9', prefix: cluster.prefix });
    await expect(gone('users', 'list')).rejects.toThrow(/^The router does not answer at http:\/\/127\.0\.0\.1:9: /);
  });
});

describe('a command with a token', () => {
  it('of a member is refused operations for administrators', async () => {
    const { link } = await rtr.json('invitations', 'create', 'carol@example.com');
    const { client: carol } = await joinConsole(new ConsoleClient(cluster.url), link, 'Carol');
    const asCarol = await withToken(carol, ['admin']);
    const denied = 'You are not allowed to do this. The admin token has the rights of the person who made it.';
    await expect(asCarol('users', 'list')).rejects.toThrow(denied);
    const own = await asCarol.json('keys', 'create', '--name', 'laptop', '--kind', 'user');
    expect(own).toMatchObject({
      key: { kind: 'user', owner: { name: 'Carol' } },
      raw: expect.stringMatching(/^user\./),
    });
    expect(await asCarol('keys', 'list')).toHaveLength(2);
  });

  it('that is unknown reports that, and how to create one', async () => {
    const stranger = adminCommandsOf({ ...cluster, token: `rtradmin_${'0'.repeat(12)}_${'a'.repeat(43)}` });
    await expect(stranger('users', 'list')).rejects.toThrow(
      /refuses the admin token: it is unknown, revoked or expired/,
    );
  });
});

describe('rtr tokens', () => {
  it('prints a token once, which works until it is revoked', async () => {
    const made = await rtr.json('tokens', 'create', '--name', 'ci', '--scopes', 'read,keys', '--expires-in-days', '3');
    expect(made.token).toMatchObject({ name: 'ci', scopes: ['read', 'keys'], madeAt: expect.stringContaining('@') });
    const ci = adminCommandsOf({ ...cluster, token: made.raw });
    expect((await ci('tokens', 'list')).join('\n')).toContain(made.token.id);
    expect(await rtr('tokens', 'revoke', made.token.id)).toEqual([`The admin token ${made.token.id} is revoked.`]);
    await expect(ci('tokens', 'list')).rejects.toThrow(/refuses the admin token/);
    expect((await rtr('tokens', 'create', '--name', 'x'))[0]).toMatch(/^Admin token "x", valid until .*: rtradmin_\w+/);
  });
});

describe('rtr users', () => {
  it('gives nothing to an address that was only typed in, until it is confirmed', async () => {
    const { link } = await rtr.json('invitations', 'create', 'mallory@example.com');
    const { client: mallory, id } = await joinConsole(new ConsoleClient(cluster.url), link, 'Mallory');
    const email = 'newboss@example.com';
    expect((await mallory.post('/account/email', { email, password: goodPassword })).status).toBe(200);
    const file = join(temporaryFolder(), 'access.yaml');
    writeFileSync(file, `people:\n  ${email}: { role: admin }\n`);
    const refused = /newboss@example\.com has typed it in, and nobody has confirmed that it is theirs/;
    for (const words of [
      ['users', 'set', email, '--role', 'admin'],
      ['limits', 'set', `user:${email}`, 'cost-per-day=9'],
      ['keys', 'create', '--name', 'k', '--user', email],
      ['apply', '-f', file],
      ['webhooks', 'add', 'https://hooks.example.com/rtr', '--events', 'batch.completed', '--user', email],
    ])
      await expect(rtr(...words)).rejects.toThrow(refused);
    expect((await rtr('users', 'show', email)).join('\n')).toMatch(/^email confirmed +no$/m);
    expect((await rtr.json('users', 'set', email, '--blocked')).blocked).toBe(true);
    await rtr('users', 'rename', id, '--email', email);
    expect(await rtr.json('users', 'set', email, '--no-blocked', '--role', 'admin')).toMatchObject({ role: 'admin' });
    await rtr('users', 'delete', email);
  });

  it('creates, shows, changes, renames, blocks and deletes a person', async () => {
    const limits = ['--limit', 'requests-per-minute=60', '--limit', 'costPerDay=2.5'];
    const said = await rtr('users', 'create', 'dan@example.com', '--role', 'member', '--weight', '3', ...limits);
    expect(said[0]).toMatch(/^dan@example\.com has an account as member\./);
    const set = await rtr.json('users', 'set', 'dan@example.com', '--limit', 'cost-per-day=none', '--blocked');
    expect(set).toMatchObject({ blocked: true, weight: 3, limits: { requestsPerMinute: 60 } });
    const ceiling = ['--ceiling-tiers', 'gpu,cloud', '--ceiling-max-class', 'normal', '--no-blocked'];
    const shown = (await rtr('users', 'set', 'dan@example.com', ...ceiling)).join('\n');
    expect(shown).toMatch(/ceiling +tiers=gpu,cloud max-class=normal/);
    expect(shown).toMatch(/blocked +no/);
    const freed = await rtr.json('users', 'set', 'dan@example.com', '--ceiling-tiers', 'none');
    expect(freed).toMatchObject({ ceiling: { maxClass: 'normal' } });
    await rtr('users', 'rename', 'dan@example.com', '--name', 'Dan B', '--email', 'danb@example.com');
    const { id, name } = await rtr.json('users', 'show', 'danb@example.com');
    expect(name).toBe('Dan B');
    expect(await rtr('users', 'list')).toContainEqual(expect.stringMatching(`^${id}  danb@example.com .* Dan B$`));
    expect(await rtr('users', 'delete', 'danb@example.com')).toEqual([
      'danb@example.com is deleted, with all that was theirs.',
    ]);
    await expect(rtr('users', 'show', 'danb@example.com')).rejects.toThrow('Nobody has an account with the address');
  });

  it('ends sessions, makes password links and removes second factors', async () => {
    await rtr('users', 'create', 'eve@example.com');
    const { link } = await rtr.json('users', 'password-link', 'eve@example.com');
    const eve = new ConsoleClient(cluster.url);
    expect((await eve.post(linkPath(link), { password: goodPassword })).status).toBe(200);
    const session = await rtr.json('users', 'sessions', 'eve@example.com');
    expect((await eve.get('/session')).status).toBe(200);
    await rtr('users', 'end-session', 'eve@example.com', session.id);
    expect((await eve.get('/session')).status).toBe(401);
    expect(await rtr('users', 'sessions', 'eve@example.com')).toEqual(['The person is signed in nowhere.']);
    await eve.signIn('eve@example.com', goodPassword);
    const ended = await rtr('users', 'sign-out', 'eve@example.com');
    expect(ended).toEqual(['All sessions and programs of eve@example.com are ended.']);
    expect((await eve.get('/session')).status).toBe(401);
    expect(await rtr('users', 'reset-second-factor', 'eve@example.com')).toEqual([
      'eve@example.com has no second factor any more.',
    ]);
  });

  it('unlinks a person from their account at a provider', async () => {
    const { id } = await rtr.json('users', 'create', 'frank@example.com');
    const { accounts, connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const keys = { externalAccountSealer: () => undefined };
    const externals = new ExternalAccounts(connection.redis, `${cluster.prefix}:`, { keys, report: () => undefined });
    const frank = await accounts.users.find(id);
    const account = { provider: 'company', issuer: 'https://id.example.com', subject: 'frank' };
    expect(frank && (await externals.link(frank, account))).toBe(true);
    expect((await rtr('users', 'show', id)).join('\n')).toMatch(/provider +company/);
    expect(await rtr('users', 'unlink', 'frank@example.com')).toEqual([
      'frank@example.com is linked to no identity provider any more. All sessions and programs are ended. The next sign-in with this address links it anew.',
    ]);
    expect((await rtr('users', 'show', id)).join('\n')).not.toContain('provider');
    await expect(rtr('users', 'unlink', id)).rejects.toThrow('This person has no account at an identity provider.');
    await rtr('users', 'delete', id);
  });

  it('keeps the last administrator, whatever a file says', async () => {
    const file = join(temporaryFolder(), 'access.yaml');
    for (const [field, value] of Object.entries({ role: 'member', blocked: 'true' })) {
      writeFileSync(file, `people:\n  ada@example.com: { ${field}: ${value} }\n`);
      await expect(rtr('apply', '-f', file, '--dry-run')).rejects.toThrow(
        `line 2, people.ada@example.com.${field}: would leave no administrator`,
      );
    }
  });

  it('refuses a name that would turn a path into that of another operation, before anything is sent', async () => {
    await rtr('users', 'create', 'victim@example.com');
    const { length } = await rtr('audit', 'list', '--json');
    for (const name of ['..', '.', '']) {
      const refused = `"${name}" is not the name or the id of anything. Nothing was sent.`;
      const end = ['users', 'end-session', 'victim@example.com'];
      for (const words of [end, ['users', 'delete'], ['keys', 'rotate'], ['prices', 'reset']])
        await expect(rtr(...words, name)).rejects.toThrow(refused);
    }
    expect((await rtr('audit', 'list', '--json')).length).toBe(length);
    await rtr('users', 'delete', 'victim@example.com');
  });
});

describe('rtr teams and rtr invitations', () => {
  it('create a team, its members and its limits, and delete it', async () => {
    const made = await rtr.json('teams', 'create', 'Research', '--limit', 'cost-per-month=500');
    expect(made).toMatchObject({ name: 'Research', limits: { costPerMonth: 500 }, members: [] });
    await rtr('teams', 'members', 'add', 'Research', 'bob@example.com');
    const promoted = await rtr('teams', 'members', 'set', 'Research', 'bob@example.com', '--role', 'owner');
    expect(promoted).toEqual(['bob@example.com is in team Research, as owner.']);
    expect((await rtr('teams', 'show', 'Research')).join('\n')).toMatch(
      /^members:\nID .*\n\S+ +Bob +bob@example\.com +owner/m,
    );
    await rtr('teams', 'set', 'Research', '--name', 'Lab', '--weight', '4');
    expect(await rtr.json('teams', 'list')).toMatchObject({ name: 'Lab', weight: 4, limits: { costPerMonth: 500 } });
    expect(await rtr('teams', 'members', 'remove', made.id, 'bob@example.com')).toHaveLength(1);
    const again = rtr('teams', 'members', 'remove', 'Lab', 'bob@example.com');
    await expect(again).rejects.toThrow('bob@example.com is not in team Lab.');
    const { invitation } = await rtr.json('invitations', 'create', 'new@example.com', '--team', 'Lab');
    const { email } = invitation;
    expect(await rtr.json('invitations', 'list')).toMatchObject({ email, teamId: made.id });
    expect(await rtr('invitations', 'delete', email)).toEqual(['The invitation of new@example.com is withdrawn.']);
    expect(await rtr('invitations', 'list')).toEqual(['There are no open invitations.']);
    await rtr('teams', 'delete', 'Lab');
    const refused = rtr('teams', 'create', 'Lab', '--limit', 'tokens-per-day=1.5');
    await expect(refused).rejects.toThrow(/tokensPerDay/);
    await expect(rtr('teams', 'show', 'Lab')).rejects.toThrow('There is no team Lab.');
  });

  it('ask for the id if several teams have a name', async () => {
    const one = await rtr.json('teams', 'create', 'Twin');
    await expect(rtr('teams', 'create', 'twin')).rejects.toThrow('There is a team of this name already.');
    // A second team of the same name, written into the store directly.
    const { accounts } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const two = await accounts.teams.create('Twin');
    await expect(rtr('teams', 'delete', 'Twin')).rejects.toThrow(`Use the id of one of them: ${one.id}, ${two.id}.`);
    await rtr('teams', 'delete', one.id);
    await rtr('teams', 'delete', 'Twin');
  });
});
