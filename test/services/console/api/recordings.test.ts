import { describe, expect, it } from 'vitest';
import type { KeyRecord } from '#shared/accounts/keys/key-record.ts';
import { openConsole, type OpenConsole, type Person } from '../../../helpers/console/open-console.ts';

interface House {
  open: OpenConsole;
  /** An administrator. */
  ada: Person;
  /** An owner of the team, a member of it, and somebody else. */
  bob: Person;
  carl: Person;
  dora: Person;
  teamId: string;
}

/** A console where things may be recorded, with a team. */
async function openHouse(isRecording = true): Promise<House> {
  const open = await openConsole({ isRecording });
  const ada = await open.firstAdmin();
  const { body: team } = await ada.post('/teams', { name: 'Blue' });
  const teamId = String(team.id);
  const bob = await open.join(ada, 'bob@example.com', { teamId });
  await ada.put(`/teams/${teamId}/members/${bob.id}`, { role: 'owner' });
  const carl = await open.join(ada, 'carl@example.com', { teamId });
  const dora = await open.join(ada, 'dora@example.com');
  return { open, ada, bob, carl, dora, teamId };
}

async function makeKey(maker: Person, owner: object): Promise<Pick<KeyRecord, 'id'> & { raw: string }> {
  const { status, body } = await maker.post('/keys', { name: 'k', ...owner });
  expect(status).toBe(201);
  return { id: String(body.key.id), raw: String(body.raw) };
}

/** Switches a key, and returns the status. */
async function switchKey(by: Person, id: string, records: boolean): Promise<number> {
  return (await by.patch(`/keys/${id}`, { records })).status;
}

/** The entries of an action in the audit trail; one that stands for several changes comes as often. */
async function actionsIn({ ada }: House, action: string): Promise<{ actor: string; target: string }[]> {
  const { body } = await ada.get(`/audit?limit=100&action=${action}`);
  const entries = body.data as { actor: { name: string }; target: { id: string }; count?: number }[];
  return entries.flatMap(({ actor, target, count = 1 }) =>
    Array.from({ length: count }, () => ({ actor: actor.name, target: target.id })),
  );
}

/** Keeps a recording of a key. */
async function keep({ open }: House, id: string, keyId: string, owner?: { kind: 'user' | 'team'; id: string }) {
  const facts = { id, at: 1, endedAt: 2, endpoint: 'POST /', format: 'chat', end: 'whole' as const };
  const sizes = { requestBytes: 3, answerBytes: 3, isRequestCut: false, isAnswerCut: false };
  const whose = { key: { id: keyId, name: 'k' }, ...(owner && { owner }) };
  const kept = await open.recordings.keep(
    owner?.id ?? keyId,
    { ...facts, ...sizes, ...whose },
    Buffer.from('ask'),
    Buffer.from('yes'),
  );
  expect(kept).toBe('kept');
}

describe('the switch of recording', () => {
  it('of a personal key is for its person alone; administrators may only switch it off', async () => {
    const house = await openHouse();
    const { ada, bob, dora, open } = house;
    const { id, raw } = await makeKey(dora, { kind: 'user' });
    expect((await open.verifier.verify(raw)).isRecorded).toBeUndefined();
    expect([await switchKey(ada, id, true), await switchKey(bob, id, true)]).toEqual([403, 404]);
    expect(await switchKey(dora, id, true)).toBe(200);
    expect((await open.verifier.verify(raw)).isRecorded).toBe(true);
    const { body: keys } = await dora.get('/keys');
    expect(keys).toMatchObject([{ records: true, recording: { of: 'key', by: 'dora' } }]);
    expect(await switchKey(ada, id, false)).toBe(200);
    expect((await open.verifier.verify(raw)).isRecorded).toBeUndefined();
    // It does not count as a setting that an administrator has set: the person may have it recorded again.
    expect(await switchKey(dora, id, true)).toBe(200);
    expect(await actionsIn(house, 'key.change')).toHaveLength(3);
  });

  it('of a key that an administrator has issued to somebody is for that person', async () => {
    const { ada, dora } = await openHouse();
    const { id } = await makeKey(ada, { kind: 'user', userId: dora.id });
    expect([await switchKey(ada, id, true), await switchKey(dora, id, true)]).toEqual([403, 200]);
  });

  it('of a team and its keys is for its owners and administrators', async () => {
    const house = await openHouse();
    const { ada, bob, carl, dora, teamId, open } = house;
    const { id, raw } = await makeKey(bob, { kind: 'team', teamId });
    const statuses = async (path: string) =>
      Promise.all([carl, dora, bob, ada].map(async (each) => (await each.patch(path, { records: true })).status));
    expect(await statuses(`/keys/${id}`)).toEqual([403, 404, 200, 200]);
    expect(await switchKey(bob, id, false)).toBe(200);
    expect(await statuses(`/teams/${teamId}`)).toEqual([403, 404, 200, 200]);
    expect((await open.verifier.verify(raw)).isRecorded).toBe(true);
    // Who has switched it on first, which a member sees as well.
    const { body: keys } = await carl.get('/keys');
    expect(keys).toMatchObject([{ records: false, recording: { of: 'team', by: expect.any(String) } }]);
    expect((await bob.patch(`/teams/${teamId}`, { records: false, weight: 3 })).status).toBe(403);
    expect((await bob.patch(`/teams/${teamId}`, { records: false })).body).toMatchObject({ records: false });
    expect((await open.verifier.verify(raw)).isRecorded).toBeUndefined();
    expect((await actionsIn(house, 'team.change')).filter(({ actor }) => actor === 'bob')).toHaveLength(2);
  });

  it('of a key of the router is for administrators', async () => {
    const { ada, bob } = await openHouse();
    const { id } = await makeKey(ada, { kind: 'router' });
    expect([await switchKey(bob, id, true), await switchKey(ada, id, true)]).toEqual([404, 200]);
  });

  it('cannot be switched on where the router records nothing, and is not shown', async () => {
    const { ada, bob, teamId, open } = await openHouse(false);
    const { id } = await makeKey(ada, { kind: 'router' });
    const { status, body } = await ada.patch(`/keys/${id}`, { records: true });
    expect([status, body.error.code]).toEqual([409, 'recordings_off']);
    expect((await bob.patch(`/teams/${teamId}`, { records: true })).status).toBe(409);
    expect(await switchKey(ada, id, false)).toBe(200);
    // Switched on before the setting was taken back.
    await open.accounts.keys.change(id, { records: { by: ada.id, since: 1 } });
    expect((await ada.get('/keys')).body[0]).not.toHaveProperty('recording');
    expect((await ada.get('/recording-switches')).body).toEqual([]);
  });

  it('tells everybody concerned, and nobody else, who has switched it on', async () => {
    const { ada, bob, carl, dora, teamId } = await openHouse();
    const { id } = await makeKey(dora, { kind: 'user' });
    await switchKey(dora, id, true);
    await bob.patch(`/teams/${teamId}`, { records: true });
    const of = async (person: Person) => (await person.get('/recording-switches')).body;
    expect(await of(dora)).toMatchObject([{ of: 'key', id, by: 'dora' }]);
    expect(await of(carl)).toMatchObject([{ of: 'team', id: teamId, by: 'bob', name: 'Blue' }]);
    expect(await of(bob)).toHaveLength(1);
    expect(await of(ada)).toEqual([]);
  });

  it('goes over to the key that takes its place', async () => {
    const { dora, open } = await openHouse();
    const { id } = await makeKey(dora, { kind: 'user' });
    await switchKey(dora, id, true);
    const { body } = await dora.post(`/keys/${id}/rotate`, { overlapMs: 0 });
    expect((await open.verifier.verify(String(body.raw))).isRecorded).toBe(true);
  });
});

describe('a recording', () => {
  it('is read by its person, owners of its team and administrators; to all others it does not exist', async () => {
    const house = await openHouse();
    const { ada, bob, carl, dora, teamId } = house;
    const [own, team, router] = [
      await makeKey(dora, { kind: 'user' }),
      await makeKey(bob, { kind: 'team', teamId }),
      await makeKey(ada, { kind: 'router' }),
    ];
    await keep(house, 'own', own.id, { kind: 'user', id: dora.id });
    await keep(house, 'team', team.id, { kind: 'team', id: teamId });
    await keep(house, 'router', router.id);
    const people = [ada, bob, carl, dora];
    const statuses = async (id: string) =>
      Promise.all(people.map(async (each) => (await each.get(`/recordings/${id}`)).status));
    expect(await statuses('own')).toEqual([200, 404, 404, 200]);
    expect(await statuses('team')).toEqual([200, 200, 404, 404]);
    expect(await statuses('router')).toEqual([200, 404, 404, 404]);
    expect((await dora.get('/recordings/own')).body).toMatchObject({
      request: 'ask',
      answer: 'yes',
      recordedBy: 'dora',
    });
    const listed = async (each: Person, query = '') =>
      ((await each.get(`/recordings?limit=10${query}`)).body.data as { id: string }[]).map(({ id }) => id).toSorted();
    expect(await Promise.all(people.map((each) => listed(each)))).toEqual([
      ['own', 'router', 'team'],
      ['team'],
      [],
      ['own'],
    ]);
    expect(await listed(ada, `&owner=team:${teamId}`)).toEqual(['team']);
    expect(await listed(ada, `&key=${own.id}`)).toEqual(['own']);
    expect(await listed(dora, `&owner=team:${teamId}`)).toEqual([]);
    // Only what somebody else has sent, or may have.
    expect((await actionsIn(house, 'recording.read')).toSorted(byText)).toEqual(
      [
        { actor: 'Ada', target: 'own' },
        { actor: 'Ada', target: 'router' },
        { actor: 'Ada', target: 'team' },
        { actor: 'bob', target: 'team' },
      ].toSorted(byText),
    );
  });

  it('is exported by those who read it, with an entry in the audit trail', async () => {
    const house = await openHouse();
    const { ada, carl, dora } = house;
    const { id } = await makeKey(dora, { kind: 'user' });
    await keep(house, 'own', id, { kind: 'user', id: dora.id });
    const exported = async (each: Person) => (await each.get('/recordings/export')).body as unknown[];
    expect(await exported(carl)).toEqual([]);
    expect(await exported(ada)).toMatchObject([{ id: 'own', request: 'ask', answer: 'yes' }]);
    expect((await actionsIn(house, 'recording.export')).map(({ actor }) => actor).toSorted()).toEqual(['Ada', 'carl']);
  });

  it('is deleted by those who read it', async () => {
    const house = await openHouse();
    const { bob, dora } = house;
    const { id } = await makeKey(dora, { kind: 'user' });
    await keep(house, 'own', id, { kind: 'user', id: dora.id });
    expect((await bob.delete('/recordings/own')).status).toBe(404);
    expect((await dora.delete('/recordings/own')).status).toBe(204);
    expect((await dora.get('/recordings/own')).status).toBe(404);
    expect(await actionsIn(house, 'recording.delete')).toEqual([{ actor: 'dora', target: 'own' }]);
  });

  it('goes with its person', async () => {
    const house = await openHouse();
    const { ada, dora, open } = house;
    const { id } = await makeKey(dora, { kind: 'user' });
    await keep(house, 'own', id, { kind: 'user', id: dora.id });
    expect(await open.recordings.find('own')).toHaveLength(1);
    expect((await ada.delete(`/users/${dora.id}`)).status).toBe(204);
    expect(await open.recordings.find('own')).toEqual([]);
    const left = await open.connection.redis.keys(`${open.prefix}recordings:*`);
    expect(left).toEqual([`${open.prefix}recordings:total`]);
  });

  it('of a team goes with the team, and of a router key with the key', async () => {
    const house = await openHouse();
    const { ada, bob, teamId, open } = house;
    const [team, router] = [await makeKey(bob, { kind: 'team', teamId }), await makeKey(ada, { kind: 'router' })];
    await keep(house, 'team', team.id, { kind: 'team', id: teamId });
    await keep(house, 'router', router.id);
    await ada.delete(`/teams/${teamId}`);
    expect([await open.recordings.find('team'), await open.recordings.find('router')]).toMatchObject([[], [{}]]);
    await ada.delete(`/keys/${router.id}`);
    expect(await open.recordings.find('router')).toEqual([]);
  });
});

function byText(one: { actor: string; target: string }, other: { actor: string; target: string }): number {
  return `${one.actor} ${one.target}` < `${other.actor} ${other.target}` ? -1 : 1;
}
