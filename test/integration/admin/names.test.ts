import { expect, inject, it, onTestFinished } from 'vitest';
import { withRedis } from '#services/rtr/commands/with-redis.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { AdminClient } from '../../helpers/console/admin-client.ts';
import { adminCommandsOf } from '../../helpers/rtr/admin-commands.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { uniqueName } from '../../helpers/unique-name.ts';

const domain = `${uniqueName('names')}.example`.toLowerCase();

const cluster = useScriptedCluster();
const rtr = adminCommandsOf(cluster);

it('many requests with one new name create one thing, and all get an answer', async () => {
  const { raw } = await rtr.json('tokens', 'create', '--name', 'many', '--scopes', 'admin');
  const client = new AdminClient(cluster.url, raw);
  for (const [path, body] of [
    ['/teams-by-name/Bench', {}],
    [`/users-by-email/ada@${domain}`, {}],
    ['/keys-by-name/stable', { kind: 'router' }],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.put(path, body)));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
  }
});

it('adding a member again with another role fails, because it would demote an owner', async () => {
  await rtr('users', 'create', `bob@${domain}`, '--name', 'Bob');
  await rtr('teams', 'create', 'Crew');
  const add = (role: string) => rtr('teams', 'members', 'add', 'Crew', `bob@${domain}`, '--role', role);
  await add('owner');
  await add('owner');
  await expect(add('member')).rejects.toThrow('Bob is in this team already, as owner.');
  expect((await rtr.json('teams', 'show', 'Crew')).members).toMatchObject([{ role: 'owner' }]);
  await rtr('teams', 'members', 'set', 'Crew', `bob@${domain}`, '--role', 'member');
  expect((await rtr.json('teams', 'show', 'Crew')).members).toMatchObject([{ role: 'member' }]);
});

it('a missing token, scope, person or registry is named', async () => {
  const answer = await fetch(`${cluster.url}/api/admin/v1/teams`);
  const error = { message: expect.stringMatching(/^This request has no admin token\. /) };
  expect([answer.status, await answer.json()]).toMatchObject([401, { error }]);
  const { raw } = await rtr.json('tokens', 'create', '--name', 'reader', '--scopes', 'read');
  const reader = adminCommandsOf({ ...cluster, token: raw });
  const narrow = 'This needs a token with the scope `admin`. This one has `read`.';
  await expect(reader('teams', 'create', 'No')).rejects.toThrow(narrow);
  const nobody = 'userId: The token belongs to nobody, who could own a key: name a person.';
  await expect(rtr('keys', 'create', '--name', 'mine', '--kind', 'user')).rejects.toThrow(nobody);
  expect(await rtr('registry', 'show')).toEqual(['There is no registry, neither stored nor in a file.']);
});

it('a password that Redis refuses is reported', async () => {
  const url = new URL(inject('redisUrl'));
  const { redis } = await openKeyStore(url.href);
  const user = `tester-${cluster.prefix}`;
  await redis.call('ACL', 'SETUSER', user, 'on', '>right');
  onTestFinished(async () => void (await redis.call('ACL', 'DELUSER', user)));
  Object.assign(url, { username: user, password: 'wrong' });
  const opening = withRedis({ REDIS_URL: url.href, log: silentLog }, async () => undefined);
  await expect(opening).rejects.toThrow(`Redis at ${url.host} refuses the user or the password of REDIS_URL.`);
});
