import { describe, expect, it } from 'vitest';
import type { KeyRecord } from '#shared/accounts/keys/key-record.ts';
import { openTeam, type Person } from '../../../helpers/console/open-console.ts';
import { refusal } from '../../../helpers/console/refusals.ts';

/** A console where requests may be recorded, with a team: Bob owns it, Eve is a member, and Dora is somebody else. */
const openRecordings = (isRecording = true) => openTeam(['dora'], { isRecording });

type Recorded = Awaited<ReturnType<typeof openRecordings>>;

async function makeKey(maker: Person, owner: object): Promise<Pick<KeyRecord, 'id'> & { raw: string }> {
  const { status, body } = await maker.post('/keys', { name: 'k', ...owner });
  expect(status).toBe(201);
  return { id: String(body.key.id), raw: String(body.raw) };
}

async function switchKey(by: Person, id: string, records: boolean): Promise<number> {
  return (await by.patch(`/keys/${id}`, { records })).status;
}

/** Returns the entries of an action in the audit trail. An entry that stands for several changes is repeated as often. */
async function actionsIn({ ada }: Recorded, action: string): Promise<{ actor: string; target: string }[]> {
  const { body } = await ada.get(`/audit?limit=100&action=${action}`);
  const entries = body.data as { actor: { name: string }; target: { id: string }; count?: number }[];
  return entries.flatMap(({ actor, target, count = 1 }) =>
    Array.from({ length: count }, () => ({ actor: actor.name, target: target.id })),
  );
}

/** The same, with a recording of a key of Dora, of one of the team, and of one of the router. */
async function openRecorded() {
  const house = await openRecordings();
  const { ada, bob, dora, teamId, recordings } = house;
  const keep = async (id: string, key: { id: string }, owner?: { kind: 'user' | 'team'; id: string }) => {
    const facts = { id, at: 1, endedAt: 2, endpoint: 'POST /', format: 'chat', end: 'whole' as const };
    const sizes = { requestBytes: 3, answerBytes: 3, isRequestCut: false, isAnswerCut: false };
    const about = { ...facts, ...sizes, key: { id: key.id, name: 'k' }, ...(owner && { owner }) };
    expect(await recordings.store(owner?.id ?? key.id, about, Buffer.from('ask'), Buffer.from('yes'))).toBe('kept');
  };
  const own = await makeKey(dora, { kind: 'user' });
  const team = await makeKey(bob, { kind: 'team', teamId });
  const router = await makeKey(ada, { kind: 'router' });
  await keep('own', own, { kind: 'user', id: dora.id });
  await keep('team', team, { kind: 'team', id: teamId });
  await keep('router', router);
  return { ...house, own, router };
}

describe('the switch of recording', () => {
  it('of a personal key belongs to its person; administrators may only switch it off', async () => {
    const house = await openRecordings();
    const { ada, bob, dora, verifier } = house;
    const { id, raw } = await makeKey(dora, { kind: 'user' });
    expect((await verifier.verify(raw)).isRecorded).toBeUndefined();
    expect([await switchKey(ada, id, true), await switchKey(bob, id, true)]).toEqual([403, 404]);
    expect(await switchKey(dora, id, true)).toBe(200);
    expect((await verifier.verify(raw)).isRecorded).toBe(true);
    const { body: keys } = await dora.get('/keys');
    expect(keys).toMatchObject([{ records: true, recording: { of: 'key', by: 'dora' } }]);
    expect(await switchKey(ada, id, false)).toBe(200);
    expect((await verifier.verify(raw)).isRecorded).toBeUndefined();
    // It does not count as a setting of an administrator: the person may switch it on again.
    expect(await switchKey(dora, id, true)).toBe(200);
    expect(await actionsIn(house, 'key.change')).toHaveLength(3);
    // The recording continues with the key that replaces it.
    const { body } = await dora.post(`/keys/${id}/rotate`, { overlapMs: 0 });
    expect((await verifier.verify(String(body.raw))).isRecorded).toBe(true);
    const issued = await makeKey(ada, { kind: 'user', userId: dora.id });
    expect([await switchKey(ada, issued.id, true), await switchKey(dora, issued.id, true)]).toEqual([403, 200]);
  });

  it('of a team and its keys belongs to its owners and administrators, of a router key to administrators', async () => {
    const house = await openRecordings();
    const { ada, bob, eve, dora, teamId, verifier } = house;
    const { id, raw } = await makeKey(bob, { kind: 'team', teamId });
    const statuses = async (path: string) =>
      Promise.all([eve, dora, bob, ada].map(async (each) => (await each.patch(path, { records: true })).status));
    expect(await statuses(`/keys/${id}`)).toEqual([403, 404, 200, 200]);
    expect(await switchKey(bob, id, false)).toBe(200);
    expect(await statuses(`/teams/${teamId}`)).toEqual([403, 404, 200, 200]);
    expect((await verifier.verify(raw)).isRecorded).toBe(true);
    // The person who has switched it on first, which a member sees as well.
    const { body: keys } = await eve.get('/keys');
    expect(keys).toMatchObject([{ records: false, recording: { of: 'team', by: expect.any(String) } }]);
    expect((await bob.patch(`/teams/${teamId}`, { records: false, weight: 3 })).status).toBe(403);
    expect((await bob.patch(`/teams/${teamId}`, { records: false })).body).toMatchObject({ records: false });
    expect((await verifier.verify(raw)).isRecorded).toBeUndefined();
    expect((await actionsIn(house, 'team.change')).filter(({ actor }) => actor === 'bob')).toHaveLength(2);
    const router = await makeKey(ada, { kind: 'router' });
    expect([await switchKey(bob, router.id, true), await switchKey(ada, router.id, true)]).toEqual([404, 200]);
  });

  it('cannot be turned on where the router records nothing, and is not shown', async () => {
    const { ada, bob, teamId, accounts } = await openRecordings(false);
    const { id } = await makeKey(ada, { kind: 'router' });
    expect(await ada.patch(`/keys/${id}`, { records: true })).toMatchObject(refusal(409, 'recordings_off'));
    expect((await bob.patch(`/teams/${teamId}`, { records: true })).status).toBe(409);
    expect(await switchKey(ada, id, false)).toBe(200);
    // Switched on before the router's setting was switched off.
    await accounts.keys.change(id, { records: { by: ada.id, since: 1 } });
    expect((await ada.get('/keys')).body[0]).not.toHaveProperty('recording');
    expect((await ada.get('/recording-switches')).body).toEqual([]);
  });

  it('is shown no more for a key that has expired or was replaced', async () => {
    const { dora, accounts } = await openRecordings();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { id } = await makeKey(dora, { kind: 'user' });
      await switchKey(dora, id, true);
      ids.push(id);
    }
    const [expired = '', replaced = '', other = ''] = ids;
    await accounts.keys.change(expired, { expiresAt: Date.now() - 1 });
    const { body } = await dora.post(`/keys/${replaced}/rotate`, { overlapMs: 0 });
    const shown = (await dora.get('/recording-switches')).body as { id: string }[];
    expect(shown.map(({ id }) => id).toSorted()).toEqual([other, String(body.key.id)].toSorted());
  });

  it('shows everybody concerned, and nobody else, who has turned it on', async () => {
    const { ada, bob, eve, dora, teamId } = await openRecordings();
    const { id } = await makeKey(dora, { kind: 'user' });
    await switchKey(dora, id, true);
    await bob.patch(`/teams/${teamId}`, { records: true });
    const of = async (person: Person) => (await person.get('/recording-switches')).body;
    expect(await of(dora)).toMatchObject([{ of: 'key', id, by: 'dora' }]);
    expect(await of(eve)).toMatchObject([{ of: 'team', id: teamId, by: 'bob', name: 'Blue' }]);
    expect(await of(bob)).toHaveLength(1);
    expect(await of(ada)).toEqual([]);
  });
});

describe('a recording', () => {
  it('is read by its person, owners of its team and administrators; to all others it does not exist', async () => {
    const house = await openRecorded();
    const { ada, bob, eve, dora, teamId, own } = house;
    const people = [ada, bob, eve, dora];
    const statuses = async (id: string) =>
      Promise.all(people.map(async (each) => (await each.get(`/recordings/${id}`)).status));
    expect(await statuses('own')).toEqual([200, 404, 404, 200]);
    expect(await statuses('team')).toEqual([200, 200, 404, 404]);
    expect(await statuses('router')).toEqual([200, 404, 404, 404]);
    const { body } = await dora.get('/recordings/own');
    expect(body).toMatchObject({ request: 'ask', answer: 'yes', recordedBy: 'dora' });
    const listed = async (each: Person, query = '') =>
      ((await each.get(`/recordings?limit=10${query}`)).body.data as { id: string }[]).map(({ id }) => id).toSorted();
    const lists = await Promise.all(people.map((each) => listed(each)));
    expect(lists).toEqual([['own', 'router', 'team'], ['team'], [], ['own']]);
    expect(await listed(ada, `&owner=team:${teamId}`)).toEqual(['team']);
    expect(await listed(ada, `&key=${own.id}`)).toEqual(['own']);
    expect(await listed(dora, `&owner=team:${teamId}`)).toEqual([]);
    // Only requests that somebody else has sent, or may have sent.
    const read = (await actionsIn(house, 'recording.read')).map(({ actor, target }) => `${actor} ${target}`);
    expect(read.toSorted()).toEqual(['Ada own', 'Ada router', 'Ada team', 'bob team']);
  });

  it('is exported and deleted by those who may read it, with an entry in the audit trail', async () => {
    const house = await openRecorded();
    const { ada, bob, eve, dora } = house;
    const exported = async (each: Person) => (await each.get('/recordings/export')).body as unknown[];
    expect(await exported(eve)).toEqual([]);
    expect(await exported(dora)).toMatchObject([{ id: 'own', request: 'ask', answer: 'yes' }]);
    expect(await exported(ada)).toHaveLength(3);
    const actors = (await actionsIn(house, 'recording.export')).map(({ actor }) => actor);
    expect(actors.toSorted()).toEqual(['Ada', 'dora', 'eve']);
    expect((await bob.delete('/recordings/own')).status).toBe(404);
    expect((await dora.delete('/recordings/own')).status).toBe(204);
    expect((await dora.get('/recordings/own')).status).toBe(404);
    expect(await actionsIn(house, 'recording.delete')).toEqual([{ actor: 'dora', target: 'own' }]);
  });

  it('is deleted with its person, with its team, or with its router key', async () => {
    const { ada, dora, router, teamId, recordings, redis, prefix } = await openRecorded();
    const left = () => Promise.all(['own', 'team', 'router'].map(async (id) => (await recordings.find(id)).length));
    expect(await left()).toEqual([1, 1, 1]);
    expect((await ada.delete(`/users/${dora.id}`)).status).toBe(204);
    expect(await left()).toEqual([0, 1, 1]);
    await ada.delete(`/teams/${teamId}`);
    expect(await left()).toEqual([0, 0, 1]);
    await ada.delete(`/keys/${router.id}`);
    expect(await left()).toEqual([0, 0, 0]);
    const kept = (await redis.keys(`${prefix}recording*`)).filter((name) => !name.includes('-refused:'));
    expect(kept).toEqual([`${prefix}recording-total`]);
  });
});
