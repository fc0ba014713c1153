import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import {
  responseStore,
  StoredResponses,
  type StoredResponse,
  type StoredResponsesBounds,
} from '#shared/accounts/responses/stored/stored-responses.ts';
import { makeOwners } from '../../../../helpers/accounts/make-owners.ts';
import { openKeyStore, useKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { readAllValues } from '../../../../helpers/accounts/read-all-values.ts';
import { until } from '../../../../helpers/until.ts';

const roomy = { keepMs: 60_000, ownerBytes: 1_000_000, totalBytes: 10_000_000, historyBytes: 1_000_000 };
const secrets: readonly Buffer[] = [randomBytes(32)];

const noBound = (): void => undefined;

const open = useKeyStore();

function openStore(bounds: Partial<StoredResponsesBounds> = {}, of = secrets, { redis, prefix } = open) {
  const parts = { bounds: { ...roomy, ...bounds }, keys: new OwnerKeys(() => of), report: open.noteUnreadable };
  return new StoredResponses(redis, prefix, parts);
}

/** Returns what Redis has under a name of this cluster that contains a text. */
const textOf = (name: string) => open.redis.get(`${open.prefix}${name}`);

/** A response of about so many bytes. */
function response(id: string, { previous, bytes = 10 }: { previous?: string; bytes?: number } = {}): StoredResponse {
  const text = `plain words ${'x'.repeat(bytes)}`;
  return {
    id,
    previous,
    response: { id, output: [{ id: `out_${id}`, type: 'message', content: [{ type: 'output_text', text }] }] },
    input: [{ id: `in_${id}`, type: 'message', role: 'user', content: 'plain question' }],
  };
}

/** A response with so many small items. */
function many(items: number): StoredResponse {
  const input = Array.from({ length: items }, (_, at) => ({ id: `msg_${'0'.repeat(32)}_in${at}`, content: '' }));
  return { id: 'resp_many', response: { id: 'resp_many', output: [] }, input };
}

/** Returns those of the ids that the owner still has. */
async function present(store: StoredResponses, owner: string, ids: readonly string[]): Promise<string[]> {
  const found = await Promise.all(ids.map(async (id) => ((await store.find(owner, id)) ? id : undefined)));
  return found.filter((id) => id !== undefined);
}

it('stored responses are found and removed only by their owner', async () => {
  const store = openStore();
  expect(await store.store('ada', response('resp_1'))).toBe('kept');
  expect(await store.find('ada', 'resp_1')).toEqual({ ...response('resp_1') });
  for (const id of ['resp_1', 'resp_2', 'ada:resp_1', '*', '']) expect(await store.find('bob', id)).toBeUndefined();
  expect(await store.readHistory('bob', 'resp_1', noBound)).toEqual({ missing: 'resp_1' });
  expect(await store.readItems('bob', ['out_resp_1'], noBound)).toEqual({ missing: 'out_resp_1' });
  expect(await store.delete('bob', 'resp_1')).toBe(false);
  expect([await store.delete('ada', 'resp_1'), await store.delete('ada', 'resp_1')]).toEqual([true, false]);
  expect(await store.find('ada', 'resp_1')).toBeUndefined();
  expect(await store.readItems('ada', ['out_resp_1'], noBound)).toEqual({ missing: 'out_resp_1' });
});

it('stored responses have no plain text in Redis, and leave nothing there when they are removed', async () => {
  const store = openStore();
  await store.store('ada', response('resp_1'));
  const stored = await readAllValues(open.redis, open.prefix);
  expect(stored).toContain('resp_1');
  for (const word of ['plain', 'words', 'question', 'output_text', 'user']) expect(stored).not.toContain(word);
  await store.delete('ada', 'resp_1');
  expect(await open.redis.keys(`${open.prefix}*`)).toEqual([`${open.prefix}stored-total`]);
  expect(await textOf('stored-total')).toBe('0');
});

it('stored responses cannot be opened with another secret, which is reported without their content', async () => {
  await openStore().store('ada', response('resp_1'));
  const other = openStore({}, [randomBytes(32)]);
  expect(await other.find('ada', 'resp_1')).toBeUndefined();
  expect(await other.readHistory('ada', 'resp_1', noBound)).toEqual({ missing: 'resp_1' });
  const reason = 'it is sealed with a secret that is not set';
  expect(open.unreadable).toEqual([
    `stored response resp_1: ${reason}`,
    `stored response resp_1, or one before it: ${reason}`,
  ]);
});

it('stored responses answer `store_unavailable` while the secret is not known', async () => {
  const storing = openStore({}, []).store('ada', response('resp_1'));
  await expect(storing).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('stored responses expire, and are counted no more once the next one is stored', async () => {
  await openStore({ keepMs: 50 }).store('ada', response('resp_1', { bytes: 600 }));
  const store = openStore({ ownerBytes: 2_000, totalBytes: 2_000 });
  await until(async () => (await store.find('ada', 'resp_1')) === undefined);
  await store.store('bob', response('resp_2'));
  expect(await readAllValues(open.redis, open.prefix)).not.toContain('resp_1');
});

it('a deleted owner loses its stored responses, those of answers that still run too, and nothing of others is removed', async () => {
  const store = openStore();
  const { key, team, end } = await makeOwners(open.accounts);
  for (const owner of [key.id, team.id, 'ada'])
    for (let at = 0; at < 12; at++) await store.store(owner, response(`resp_${at}`));
  expect(await open.store.revoke(team.id, 1)).toBe('unknown');
  expect(await store.find(team.id, 'resp_0')).toBeDefined();
  await end();
  for (const owner of [key.id, team.id]) {
    expect(await store.find(owner, 'resp_11')).toBeUndefined();
    expect(await store.store(owner, response('resp_late'))).toBe('no owner');
    expect(await store.find(owner, 'resp_late')).toBeUndefined();
    const left = await open.redis.keys(`${open.prefix}stored-*:${owner}*`);
    expect(left).toEqual([`${open.prefix}stored-refused:${owner}`]);
  }
  expect(await store.find('ada', 'resp_11')).toBeDefined();
  expect(await open.redis.zrange(`${open.prefix}stored-bytes`, '0', '-1')).toEqual(['ada']);
});

it('a deleted owner loses many responses in steps, between which Redis answers others', async () => {
  const store = openStore({ ownerBytes: 20_000_000, totalBytes: 20_000_000 });
  for (const id of ['resp_1', 'resp_2', 'resp_3']) await store.store('ada', { ...many(9_000), id });
  const removed = responseStore.removeOwner(open.redis, open.prefix, 'ada');
  const { redis } = await openKeyStore();
  expect(await redis.ping()).toBe('PONG');
  await removed;
  expect(await textOf('stored-total')).toBe('0');
});

it('the history of a response is what the response continues, oldest first, and is kept for as long as the response', async () => {
  // Long enough for what follows, although this process may stand still meanwhile.
  const short = openStore({ keepMs: 4_000 });
  await short.store('ada', response('resp_1'));
  await short.store('ada', response('resp_2', { previous: 'resp_1' }));
  await short.store('ada', response('resp_other'));
  const store = openStore();
  await store.store('ada', response('resp_3', { previous: 'resp_2' }));
  await until(async () => (await store.find('ada', 'resp_other')) === undefined);
  const found = ['resp_1', 'resp_2', 'resp_3'].map((id) => ({ id }));
  expect(await store.readHistory('ada', 'resp_3', noBound)).toMatchObject({ found });
});

it('the history of a response is missing when one of its responses was removed, and refused when it is too long', async () => {
  const store = openStore({ historyBytes: 900 });
  await store.store('ada', response('resp_1', { bytes: 400 }));
  await store.store('ada', response('resp_2', { previous: 'resp_1', bytes: 400 }));
  expect(await store.readHistory('ada', 'resp_1', noBound)).toMatchObject({ found: [{ id: 'resp_1' }] });
  expect(await store.readHistory('ada', 'resp_2', noBound)).toBe('too long');
  await store.delete('ada', 'resp_1');
  expect(await store.readHistory('ada', 'resp_2', noBound)).toEqual({ missing: 'resp_1' });
});

it('large responses are read only once memory is reserved for them, small ones at once', async () => {
  const store = openStore();
  for (const [id, previous] of [['resp_1'], ['resp_2', 'resp_1']] as const)
    await store.store('ada', response(id, { bytes: 200_000, ...(previous && { previous }) }));
  await store.store('ada', response('resp_small'));
  const replies: unknown[][] = [];
  const run = open.redis.evalsha.bind(open.redis);
  vi.spyOn(open.redis, 'evalsha').mockImplementation(async (...args) => {
    const reply = (await run(...args)) as unknown[];
    replies.push(reply);
    return reply;
  });
  const refuse = (): never => {
    throw new Error('no room');
  };
  await expect(store.readHistory('ada', 'resp_2', refuse)).rejects.toThrow('no room');
  await expect(store.readItems('ada', ['in_resp_1', 'in_resp_2'], refuse)).rejects.toThrow('no room');
  for (const reply of replies) expect(JSON.stringify(reply).length).toBeLessThan(100);
  const reserved: number[] = [];
  const reserve = (bytes: number): void => void reserved.push(bytes);
  expect(await store.readHistory('ada', 'resp_2', reserve)).toHaveProperty('found.length', 2);
  expect(await store.readItems('ada', ['in_resp_1', 'in_resp_2'], reserve)).toHaveProperty('found.size', 2);
  for (const bytes of reserved) expect(bytes > 400_000 && bytes < 402_000).toBe(true);
  expect(reserved).toHaveLength(2);
  expect(await store.readHistory('ada', 'resp_small', refuse)).toHaveProperty('found.length', 1);
});

it('histories of one owner are read one after the other, so that Redis goes on answering others', async () => {
  const store = openStore();
  await store.store('ada', response('resp_1'));
  await store.store('ada', response('resp_2', { previous: 'resp_1' }));
  let [running, most] = [0, 0];
  const run = open.redis.evalsha.bind(open.redis);
  vi.spyOn(open.redis, 'evalsha').mockImplementation(async (...args) => {
    most = Math.max(most, (running += 1));
    const reply = await run(...args);
    running -= 1;
    return reply;
  });
  const found = await Promise.all(Array.from({ length: 20 }, () => store.readHistory('ada', 'resp_2', noBound)));
  const whole = [response('resp_1'), response('resp_2', { previous: 'resp_1' })];
  for (const each of found) expect(each).toEqual({ found: whole });
  expect(most).toBe(1);
});

it('the expiry of a long history is moved once in a while, not by each response that continues it', async () => {
  const store = openStore({ keepMs: 240_000 });
  const { redis, prefix } = open;
  const scores = (name: string) => redis.zrange(`${prefix}${name}`, '0', '-1', 'WITHSCORES');
  for (let at = 0; at < 5; at++)
    await store.store('ada', response(`resp_${at}`, at === 0 ? {} : { previous: `resp_${at - 1}` }));
  const before = await scores('stored-by-age:ada');
  await store.store('ada', response('resp_5', { previous: 'resp_4' }));
  // Unless the time of expiry was rounded to the next step just now, nothing of the history was written again.
  const after = await scores('stored-by-age:ada');
  const isNextStep = new Set(await scores('stored-expiries')).size !== 7;
  expect(isNextStep || after.slice(0, 10).join() === before.join()).toBe(true);
  const ttls = await Promise.all([0, 5].map((at) => redis.pttl(`${prefix}stored-response:ada:resp_${at}`)));
  for (const ttl of ttls) expect(ttl > 230_000 && ttl <= 250_000).toBe(true);
});

it('stored items are found by their ids, those of inputs too, also after a newer response had them', async () => {
  const store = openStore();
  await store.store('ada', response('resp_1'));
  const newer = response('resp_2');
  await store.store('ada', { ...newer, input: [...newer.input, { id: 'out_resp_1', type: 'message', newer: true }] });
  const both = await store.readItems('ada', ['out_resp_1', 'in_resp_1', 'in_resp_2'], noBound);
  const found = typeof both === 'object' && 'found' in both ? Object.fromEntries(both.found) : {};
  const user = { role: 'user' };
  expect(found).toMatchObject({ out_resp_1: { newer: true }, in_resp_1: user, in_resp_2: user });
  // The removal of an older response leaves what a newer one has too.
  await store.delete('ada', 'resp_1');
  expect(await store.readItems('ada', ['out_resp_1'], noBound)).toHaveProperty('found');
  expect(await store.readItems('ada', ['out_resp_1', 'in_resp_1'], noBound)).toEqual({ missing: 'in_resp_1' });
  expect(await store.readItems('ada', ['no such id'], noBound)).toEqual({ missing: 'no such id' });
});

it('stored items are found by an older response once the newer ones are gone, removed or expired', async () => {
  const store = openStore();
  const shared = (id: string): StoredResponse => ({ ...response(id), input: [{ id: 'msg_shared', said: id }] });
  const said = async (): Promise<unknown> => {
    const items = await store.readItems('ada', ['msg_shared'], noBound);
    return typeof items === 'object' && 'found' in items ? items.found.get('msg_shared')?.['said'] : items;
  };
  for (const id of ['resp_1', 'resp_2', 'resp_3']) await store.store('ada', shared(id));
  expect(await said()).toBe('resp_3');
  await store.delete('ada', 'resp_3');
  expect(await said()).toBe('resp_2');
  await openStore({ keepMs: 30 }).store('ada', shared('resp_4'));
  await until(async () => (await store.find('ada', 'resp_4')) === undefined);
  expect(await said()).toBe('resp_2');
  for (const id of ['resp_1', 'resp_2']) await store.delete('ada', id);
  expect(await said()).toEqual({ missing: 'msg_shared' });
  expect(await readAllValues(open.redis, open.prefix)).not.toContain('msg_shared');
});

describe('the room of stored responses', () => {
  const size = 1_000;
  const ids = Array.from({ length: 30 }, (_, at) => `resp_${String(at).padStart(2, '0')}`);

  it('is bounded for each owner: the oldest go, and nothing of other owners', async () => {
    const store = openStore({ ownerBytes: 10 * size });
    await store.store('bob', response('resp_bob', { bytes: size / 2 }));
    for (const id of ids) {
      await store.store('ada', response(id, { bytes: size / 2 }));
      await sleep(1);
    }
    const left = await present(store, 'ada', ids);
    expect(left.length > 5 && left.length < 15).toBe(true);
    expect(left).toEqual(ids.slice(-left.length));
    expect(await store.find('bob', 'resp_bob')).toBeDefined();
    expect(await store.store('ada', response('resp_large', { bytes: 10 * size }))).toBe('too large');
    expect(await present(store, 'ada', ids)).toEqual(left);
  });

  it('is bounded in all: responses of the owner with the most bytes go', async () => {
    const store = openStore({ totalBytes: 20 * size });
    await store.store('bob', response('resp_bob', { bytes: size / 2 }));
    for (const id of ids) await store.store('ada', response(id, { bytes: size / 2 }));
    await store.store('eve', response('resp_eve', { bytes: size / 2 }));
    for (const name of ['bob', 'eve']) expect(await store.find(name, `resp_${name}`)).toBeDefined();
    expect((await present(store, 'ada', ids)).length).toBeLessThan(25);
  });

  it('holds when many nodes store and remove at the same time, and every byte is counted', async () => {
    const others = await Promise.all(Array.from({ length: 3 }, () => openKeyStore(undefined, open.prefix)));
    const bounds = { ownerBytes: 12 * size, totalBytes: 18 * size };
    const stores = [open, ...others].map((each) => openStore(bounds, secrets, each));
    const work = async (store: StoredResponses, node: number, at: number): Promise<void> => {
      const [owner, id] = [at % 2 === 0 ? 'ada' : 'bob', `${ids[at]}_${node}`];
      await store.store(owner, response(id, { bytes: (at * 37) % size }));
      if (at % 5 === 0) await store.delete(owner, id);
    };
    await Promise.all(stores.flatMap((store, node) => ids.map((_, at) => work(store, node, at))));
    const { redis } = open;
    const names = await redis.keys(`${open.prefix}stored-response:*`);
    const bytes = await Promise.all(names.map((name) => redis.strlen(name)));
    // Each response has two items, which can be found by their ids.
    const sum = bytes.reduce((a, b) => a + b, 0) + names.length * 2 * 256;
    expect(names.length).toBeGreaterThan(5);
    expect(sum).toBeLessThanOrEqual(bounds.totalBytes);
    expect(await redis.get(`${open.prefix}stored-total`)).toBe(String(sum));
    const counted = await redis.zrange(`${open.prefix}stored-bytes`, '0', '-1', 'WITHSCORES');
    const ofOwners = counted.filter((_, at) => at % 2 === 1).map(Number);
    expect(ofOwners.reduce((a, b) => a + b, 0)).toBe(sum);
    expect(Math.max(...ofOwners)).toBeLessThanOrEqual(bounds.ownerBytes);
    expect(await redis.zcard(`${open.prefix}stored-expiries`)).toBe(names.length);
  });

  it('counts what it takes to find many small items', async () => {
    const store = openStore({ ownerBytes: 20_000_000 });
    const bytesOf = async (name: string): Promise<number> =>
      Number(await open.redis.memory('USAGE', `${open.prefix}${name}`, 'SAMPLES', '0'));
    await store.store('ada', many(5_000));
    const names = ['stored-response:ada:resp_many', 'stored-of:ada', 'stored-items:ada'];
    const used = (await Promise.all(names.map(bytesOf))).reduce((a, b) => a + b, 0);
    expect(Number(await textOf('stored-total'))).toBeGreaterThan(used * 0.7);
  });

  it('is not for a response with more items than Redis can go through at once', async () => {
    const store = openStore({ ownerBytes: 20_000_000 });
    expect(await store.store('ada', many(10_001))).toBe('too large');
    expect(await store.store('ada', many(9_000))).toBe('kept');
    const ids = Array.from({ length: 10_001 }, (_, at) => `msg_${at}`);
    expect(await store.readItems('ada', ids, noBound)).toBe('too long');
  });

  it('is counted anew where somebody has removed names by hand', async () => {
    const store = openStore({ ownerBytes: 3 * size, totalBytes: 3 * size });
    await store.store('ada', response('resp_1', { bytes: size }));
    await open.redis.del(`${open.prefix}stored-by-age:ada`, `${open.prefix}stored-of:ada`);
    expect(await store.store('ada', response('resp_2', { bytes: size }))).toBe('kept');
    expect(await store.find('ada', 'resp_2')).toBeDefined();
  });
});
