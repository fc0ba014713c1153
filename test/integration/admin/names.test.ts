import { afterAll, beforeAll, expect, it } from 'vitest';
import { startScriptedCluster, type ScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { adminCommandsOf, type AdminCommands } from '../../helpers/rtr/admin-commands.ts';

let cluster: ScriptedCluster;
let rtr: AdminCommands;
beforeAll(async () => {
  cluster = await startScriptedCluster();
  rtr = adminCommandsOf(cluster);
});
afterAll(() => cluster.stop());

it('makes a thing once of many requests with one new name, and answers all of them', async () => {
  const { raw } = await rtr.json('tokens', 'create', '--name', 'many', '--scopes', 'admin');
  const put = async (path: string, body: object): Promise<number> => {
    const headers = { authorization: `Bearer ${raw}`, 'content-type': 'application/json' };
    const answer = await fetch(`${cluster.url}/api/admin/v1${path}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.status;
  };
  for (const [path, body] of [
    ['/teams-by-name/Lab', {}],
    ['/users-by-email/ada@example.com', {}],
    ['/keys-by-name/farm', { kind: 'router' }],
  ] as const) {
    const statuses = await Promise.all(Array.from({ length: 8 }, () => put(path, body)));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
  }
});

it('adds no member again with another role, which would demote an owner', async () => {
  await rtr('users', 'create', 'bob@example.com', '--name', 'Bob');
  await rtr('teams', 'create', 'Crew');
  const add = (role: string) => rtr('teams', 'members', 'add', 'Crew', 'bob@example.com', '--role', role);
  await add('owner');
  await add('owner');
  await expect(add('member')).rejects.toThrow('Bob is in this team already, as owner.');
  expect((await rtr.json('teams', 'show', 'Crew')).members).toMatchObject([{ role: 'owner' }]);
  await rtr('teams', 'members', 'set', 'Crew', 'bob@example.com', '--role', 'member');
  expect((await rtr.json('teams', 'show', 'Crew')).members).toMatchObject([{ role: 'member' }]);
});
