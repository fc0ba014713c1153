import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RecordingFields } from '#shared/accounts/recordings/recording.ts';
import { recordingStore, Recordings } from '#shared/accounts/recordings/recordings.ts';
import type { TimedPlace } from '#shared/store/redis/read-newest.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { allPages } from '../../../helpers/accounts/all-pages.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeOwners } from '../../../helpers/accounts/make-owners.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { readAllValues } from '../../../helpers/accounts/read-all-values.ts';
import { until } from '../../../helpers/until.ts';

const bounds = { keepMs: 60_000, ownerCount: 100, ownerBytes: 1_000_000, totalBytes: 2_000_000 };
const secrets = [randomBytes(32)];

const open = useKeyStore();
let recordings: Recordings;
beforeEach(() => {
  recordings = make();
});

function make(changed: Partial<typeof bounds> = {}, of = secrets): Recordings {
  const parts = { bounds: { ...bounds, ...changed }, keys: new OwnerKeys(() => of) };
  return new Recordings(open.redis, open.prefix, parts);
}

const ada = { key: { id: 'k1', name: 'laptop' }, owner: { kind: 'user', id: 'ada' } } as const;
const whole = { end: 'whole', requestBytes: 1, answerBytes: 1, isRequestCut: false, isAnswerCut: false } as const;
const request = { at: 1, endedAt: 2, endpoint: 'POST /', format: 'chat', model: 'demo', status: 200 };
const factsOf = (id: string, more: Partial<RecordingFields> = {}) => ({ id, ...request, ...ada, ...whole, ...more });

interface Keeping {
  from?: Recordings;
  storedAs?: string;
  bytes?: number;
  facts?: Partial<RecordingFields>;
}

function keep(id: string, { from = recordings, storedAs = 'ada', bytes = 10, facts = {} }: Keeping = {}) {
  return from.store(storedAs, factsOf(id, facts), Buffer.from('the prompt'), Buffer.alloc(bytes, 'a'));
}

const ofBlue: Keeping = { storedAs: 'blue', facts: { owner: { kind: 'team', id: 'blue' } } };

async function listed(from = recordings, filter: object = {}): Promise<string[]> {
  return (await from.list({ parties: undefined, ...filter }, 100)).recordings.map(({ facts }) => facts.id);
}

describe('a recording', () => {
  it('is found, read and removed by the id of its request', async () => {
    expect(await keep('r1')).toBe('kept');
    expect(await recordings.find('r1')).toMatchObject([{ owner: 'ada', facts: factsOf('r1') }]);
    const found = made((await recordings.find('r1'))[0]);
    const read = made(await recordings.readContent(found));
    expect([read.request.toString(), read.answer.toString()]).toEqual(['the prompt', 'aaaaaaaaaa']);
    expect([await recordings.delete(found), await recordings.delete(found)]).toEqual([true, false]);
    expect(await recordings.find('r1')).toEqual([]);
    // Nothing of it is left but the sum of all, which is 0.
    expect(await open.redis.keys(`${open.prefix}recording*`)).toEqual([`${open.prefix}recording-total`]);
    expect(await open.redis.get(`${open.prefix}recording-total`)).toBe('0');
  });

  it('stands sealed in Redis, with its facts', async () => {
    await keep('r1', { facts: { endpoint: 'POST /seen-nowhere' } });
    await open.redis.set(`${open.prefix}control`, 'the prompt');
    const all = await readAllValues(open.redis, open.prefix);
    expect(all.split('the prompt')).toHaveLength(2);
    for (const secret of ['aaaaaaaaaa', 'seen-nowhere']) expect(all).not.toContain(secret);
  });

  it('cannot be read with the secret of another cluster', async () => {
    await keep('r1');
    const other = make({}, [randomBytes(32)]);
    expect([await other.find('r1'), await listed(other)]).toEqual([[], []]);
  });

  it('expires, and nothing of it is left after the next sweep', async () => {
    const { redis, prefix } = open;
    await keep('r1', { from: make({ keepMs: 50 }) });
    await until(async () => (await recordings.find('r1')).length === 0);
    expect(await listed()).toEqual([]);
    expect(await recordingStore.sweep(redis, prefix)).toBe(1);
    expect(await redis.keys(`${prefix}recording*`)).toEqual([`${prefix}recording-total`]);
    expect(await redis.get(`${prefix}recording-total`)).toBe('0');
  });

  it('that has expired counts no more, while others are kept', async () => {
    await keep('r1', { from: make({ keepMs: 50 }) });
    await until(async () => (await recordings.find('r1')).length === 0);
    await keep('r2');
    const { redis } = open;
    const name = `${open.prefix}recording`;
    expect([await redis.zcard(`${name}-all`), await redis.zcard(`${name}-expiries`)]).toEqual([1, 1]);
    expect(await redis.zscore(`${name}-bytes`, 'ada')).toBe(await redis.get(`${name}-total`));
  });

  it('of a request whose id comes again takes the place of the first, unless it is of another owner', async () => {
    await keep('r1');
    await keep('r1', { bytes: 20 });
    const [found] = await recordings.find('r1');
    expect(found && (await recordings.readContent(found))?.answer).toHaveLength(20);
    expect(await listed()).toEqual(['r1']);
    await keep('r1', ofBlue);
    const owners = async () => (await recordings.find('r1')).map(({ owner }) => owner).toSorted();
    expect(await owners()).toEqual(['ada', 'blue']);
    await recordingStore.removeOwner(open.redis, open.prefix, 'ada');
    expect(await owners()).toEqual(['blue']);
  });

  it('of a removed owner is not kept', async () => {
    const { key, team, end } = await makeOwners(open.accounts);
    await end();
    for (const storedAs of [key.id, team.id]) expect(await keep('r1', { storedAs })).toBe('gone');
    expect(await listed()).toEqual([]);
  });
});

it.each([
  ['in number for each owner: the oldest goes', { ownerCount: 2 }],
  ['in bytes for each owner: the oldest go', { ownerBytes: 10_000 }],
  ['in bytes of all: the oldest of whoever has most goes', { totalBytes: 12_000 }],
])('recordings are bounded %s, those of others stay', async (_, changed) => {
  const small = make(changed);
  await keep('other', { from: small, ...ofBlue });
  for (const id of ['r1', 'r2', 'r3']) await keep(id, { from: small, bytes: 2_000 });
  expect((await listed(small)).toSorted()).toEqual(['other', 'r2', 'r3']);
});

it('a recording that is larger than the maximum of all is not kept', async () => {
  const from = make({ ownerBytes: 5_000 });
  await keep('r1', { from });
  expect(await keep('r2', { from, bytes: 5_000 })).toBe('full');
  expect(await listed(from)).toEqual(['r1']);
});

it('a list of recordings goes on where the previous page has ended, over several parties and within one millisecond', async () => {
  const ids = Array.from({ length: 25 }, (_, index) => `r${index}`);
  await Promise.all(ids.map((id, at) => keep(id, at % 2 ? {} : ofBlue)));
  const parties = ['user:ada', 'team:blue'] as const;
  const pages = await allPages((place?: TimedPlace) => recordings.list({ parties }, 4, place));
  for (const page of pages) expect(page.recordings.length).toBeLessThanOrEqual(4);
  const seen = pages.flatMap((page) => page.recordings.map(({ facts }) => facts.id));
  expect(seen.toSorted()).toEqual(ids.toSorted());
});

it('a list of recordings contains the recordings of the requested parties, key and session', async () => {
  await keep('r1');
  await keep('r2', { facts: { key: { id: 'k2', name: 'other' } } });
  await keep('r3', { facts: { session: 's1' } });
  await keep('r4', ofBlue);
  const of = async (filter: object) => (await listed(recordings, filter)).toSorted();
  expect(await of({})).toEqual(['r1', 'r2', 'r3', 'r4']);
  expect(await of({ parties: ['team:blue'] })).toEqual(['r4']);
  expect(await of({ parties: [] })).toEqual([]);
  expect(await of({ key: 'k2' })).toEqual(['r2']);
  expect(await of({ session: 's1' })).toEqual(['r3']);
});
