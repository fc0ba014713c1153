import { expect, it } from 'vitest';
import { openTeam } from '../../../helpers/console/open-console.ts';
import { refusal } from '../../../helpers/console/refusals.ts';

it('shows every list of the console when one record of each kind cannot be read', async () => {
  const { ada, bob, eve, redis, prefix, unreadable } = await openTeam();
  await ada.post('/teams', { name: 'Red' });
  await ada.post('/invitations', { email: 'new@example.com', role: 'member' });
  for (const name of ['first', 'second']) await ada.post('/keys', { kind: 'router', name });
  const counts = async (): Promise<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const path of ['/keys', '/users', '/teams', '/invitations', '/audit']) {
      const { status, body } = await ada.get(path);
      expect(status, path).toBe(200);
      found[path] = (path === '/audit' ? body.data : body).length;
    }
    return found;
  };
  const before = await counts();

  await redis.hset(`${prefix}user:${eve.id}`, 'limits', 'hunter2');
  for (const [index, kind, field] of [
    ['keys', 'key', 'expiresAt'],
    ['teams', 'team', 'createdAt'],
    ['invitations', 'invitation', 'expiresAt'],
    ['audit-index', 'audit-entry', 'note'],
  ] as const) {
    const ids = await redis.zrange(`${prefix}${index}`, '0', '-1');
    await redis.hset(`${prefix}${kind}:${ids.at(-1)}`, field, 'hunter2');
  }
  const fewer = Object.fromEntries(Object.entries(before).map(([path, count]) => [path, count - 1]));
  expect(await counts()).toEqual(fewer);
  const [blue] = (await ada.get('/teams')).body;
  expect(blue.members).toMatchObject([{ id: bob.id }]);
  expect(await eve.get('/session')).toMatchObject(refusal(503, 'store_unavailable'));
  expect((await bob.get('/keys')).status).toBe(200);
  const kinds = new Set(['user', 'key', 'team', 'invitation', 'audit']);
  expect(new Set(unreadable.map((line) => line.split(' ')[0]))).toEqual(kinds);
  expect(unreadable.join()).not.toContain('hunter2');
});
