import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ReadThroughCache, type ReadThroughCacheOptions } from '#shared/store/redis/read-through-cache.ts';
import { UnreadableRecordError } from '#shared/store/redis/stored-records.ts';
import { RouterError } from '#shared/core/errors.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

const away = { code: 'store_unavailable' };
const freshMs = 30_000;

/**
 * A cache of values that all have the number of the store's present version, such as `ada 1`. Names that begin with `no` are not accepted.
 * The values depend on Ada.
 */
function start(options: Partial<ReadThroughCacheOptions<string, string>> = {}) {
  const store = { version: 1, reads: 0, error: undefined as RouterError | undefined, held: Promise.resolve() };
  const read = async (name: string, previous?: string) => {
    store.reads += 1;
    if (store.error) throw store.error;
    const { version } = store;
    await store.held;
    const value = previous === undefined ? `${name} ${version}` : `${name} ${version} after ${previous}`;
    return { value, freshMs, isAccepted: !name.startsWith('no'), dependsOn: ['user:ada'] };
  };
  const cache = new ReadThroughCache<string>({ noun: 'values', read, ...options });
  /** Finds a value; cached values are marked. */
  const find = async (name: string): Promise<string> => {
    const found = cache.find(name, name);
    return found instanceof Promise ? found : `cached ${found}`;
  };
  /** Makes reads wait until the returned function is called. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    store.held = promise;
    return resolve;
  };
  return { cache, store, find, hold };
}

describe('a cached value', () => {
  it('is read once for all callers, and again when its fresh time has passed, with the value before', async () => {
    const { store, find } = start();
    expect(await Promise.all([find('key'), find('key')])).toEqual(['key 1', 'key 1']);
    vi.advanceTimersByTime(freshMs - 1);
    expect(await find('key')).toBe('cached key 1');
    vi.advanceTimersByTime(1);
    expect(await find('key')).toBe('key 1 after key 1');
    expect(store.reads).toBe(2);
  });

  it('is never evicted by values that are not accepted, and those are bounded, too', async () => {
    const { cache, find } = start({ max: 2 });
    await find('key');
    for (const name of ['no 1', 'no 2', 'no 3']) await find(name);
    expect(await find('key')).toBe('cached key 1');
    expect(['no 1', 'no 2', 'no 3'].map((name) => cache.peek(name))).toEqual([undefined, 'no 2 1', 'no 3 1']);
    cache.accept('no 2');
    for (const name of ['no 4', 'no 5', 'no 6']) await find(name);
    expect(await find('no 2')).toBe('cached no 2 1');
    for (const name of ['key 2', 'key 3']) await find(name);
    expect(await find('key')).toBe('key 1');
  });

  it('that is in use is read again although too many new ones are read', async () => {
    const { cache, find, hold } = start({ maxReads: 2 });
    await find('key');
    cache.markStale();
    const release = hold();
    const found = [find('one'), find('two'), find('key')];
    await expect(find('three')).rejects.toMatchObject({ code: 'overloaded' });
    release();
    expect(await Promise.all(found)).toEqual(['one 1', 'two 1', 'key 1 after key 1']);
  });

  it('is not read while too many others are', async () => {
    const { find, hold } = start({ maxReads: 2 });
    const release = hold();
    const found = [find('one'), find('two'), find('one')];
    const message = 'Too many values are being verified. Please try again soon.';
    await expect(find('three')).rejects.toMatchObject({ code: 'overloaded', retryAfter: 2, message });
    release();
    expect(await Promise.all(found)).toEqual(['one 1', 'two 1', 'one 1']);
    expect(await find('three')).toBe('three 1');
  });
});

describe('an announced change', () => {
  it('removes the value of its name, or the values that depend on its party, and all values that are not accepted', async () => {
    const { cache, find } = start();
    const findAll = () => Promise.all(['one', 'two', 'no'].map(find));
    await findAll();
    cache.drop('one');
    expect(await findAll()).toEqual(['one 1', 'cached two 1', 'no 1']);
    cache.drop('user:bob');
    expect(await findAll()).toEqual(['cached one 1', 'cached two 1', 'no 1']);
    cache.drop('user:ada');
    expect(await findAll()).toEqual(['one 1', 'two 1', 'no 1']);
  });

  it.each(['key', 'user:bob', undefined])('during a read makes the read begin again (%s)', async (changed) => {
    const { cache, store, find, hold } = start();
    const release = hold();
    const found = find('key');
    store.version = 2;
    if (changed === undefined) cache.markStale();
    else cache.drop(changed);
    release();
    expect(await found).toBe('key 2');
    expect(await find('key')).toBe('cached key 2');
  });

  it('of another name does not make a read begin again', async () => {
    const { cache, store, find, hold } = start();
    const release = hold();
    const found = find('key');
    cache.drop('another');
    release();
    await found;
    expect(store.reads).toBe(1);
  });

  it('in every round of a read makes it fail as overloaded', async () => {
    const { cache, find } = start({
      read: async (value) => {
        await Promise.resolve();
        cache.markStale();
        return { value, freshMs, isAccepted: true };
      },
    });
    await expect(find('key')).rejects.toMatchObject({ code: 'overloaded', retryAfter: 2 });
  });

  it('that may have been missed makes every value be read again', async () => {
    const { cache, find } = start();
    for (const name of ['key', 'no']) await find(name);
    cache.markStale();
    expect([await find('key'), await find('no')]).toEqual(['key 1 after key 1', 'no 1']);
  });
});

describe('while the store is unavailable, a cached value', () => {
  const graceMs = 3_600_000;
  const outage = new RouterError('store_unavailable', 'away');

  it('counts for the grace time after it was read, and the store is tried every second', async () => {
    const { store, find } = start({ graceMs });
    await find('key');
    store.error = outage;
    vi.advanceTimersByTime(graceMs - 1);
    expect(await find('key')).toBe('key 1');
    expect(await find('key')).toBe('cached key 1');
    vi.advanceTimersByTime(1_000);
    await expect(find('key')).rejects.toMatchObject(away);
    store.error = undefined;
    expect(await find('key')).toBe('key 1 after key 1');
  });

  it('counts only if it is accepted, no announced change has removed it, and its record can be read', async () => {
    const { cache, store, find } = start({ graceMs });
    const names = ['no', 'dropped', 'unreadable'];
    for (const name of names) await find(name);
    cache.drop('dropped');
    vi.advanceTimersByTime(freshMs);
    store.error = outage;
    await expect(find('no')).rejects.toMatchObject(away);
    await expect(find('dropped')).rejects.toMatchObject(away);
    store.error = new UnreadableRecordError('key', 'it is of a later release');
    await expect(find('unreadable')).rejects.toThrow('cannot be read by this node');
  });

  it('that is removed during the failing read does not count', async () => {
    const { cache, find } = start({
      graceMs,
      read: async (value, previous) => {
        if (previous === undefined) return { value, freshMs, isAccepted: true };
        cache.drop(value);
        throw outage;
      },
    });
    await find('key');
    cache.markStale();
    await expect(find('key')).rejects.toMatchObject(away);
  });
});
