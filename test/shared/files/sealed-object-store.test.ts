import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ObjectStore } from '#shared/files/object-store.ts';
import { SealedObjectStore } from '#shared/files/sealed-object-store.ts';
import { allOf, inPieces } from '../../helpers/files/bytes.ts';
import { openObjects } from '../../helpers/files/open-objects.ts';

const chunk = 64 * 1024;
const secret = randomBytes(32);

/** A store that returns changed bytes in place of an object. */
function changed(store: ObjectStore, change: (bytes: Buffer) => Buffer): ObjectStore {
  return {
    put: (name, body) => store.put(name, body),
    delete: (name) => store.delete(name),
    get: async (name, { from, to } = { from: 0 }) => {
      const bytes = await allOf(await store.get(name));
      return bytes && inPieces(change(bytes).subarray(from, to));
    },
  };
}

/** A sealed chunk of the bytes of a sealed object. */
function sealed(bytes: Buffer, index: number): Buffer {
  return bytes.subarray(32 + index * (chunk + 16), 32 + (index + 1) * (chunk + 16));
}

it('sealed objects are read whole and in every range, whatever their size', async () => {
  const { store } = await openObjects();
  const sealed = new SealedObjectStore(store, [secret]);
  for (const size of [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 17]) {
    const bytes = randomBytes(size);
    const name = `of-${size}`;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(await sealed.put(name, inPieces(bytes))).toEqual({ bytes: size, sha256 });
    expect((await allOf(await sealed.get(name)))?.equals(bytes), name).toBe(true);
    const places = [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, size - 1, size];
    const edges = places.filter((at) => at >= 0 && at <= size);
    for (const from of edges)
      for (const to of edges.filter((each) => each >= from)) {
        const read = await allOf(await sealed.get(name, { from, to }));
        expect(read?.equals(bytes.subarray(from, to)), `${name}, ${from} to ${to}`).toBe(true);
      }
  }
});

it('sealed objects have nothing of the plain text in the store', async () => {
  const { store } = await openObjects();
  const sealed = new SealedObjectStore(store, [secret]);
  const text = Buffer.from('a sentence that nobody else may read, '.repeat(5_000));
  await sealed.put('one', inPieces(text));
  const stored = await allOf(await store.get('one-sealed'));
  expect(stored?.length).toBeGreaterThan(text.length);
  for (const word of ['sentence', 'nobody']) expect(stored?.includes(word)).toBe(false);
  // Equal contents are not equal in the store.
  await sealed.put('two', inPieces(text));
  expect((await allOf(await store.get('two-sealed')))?.equals(stored ?? Buffer.alloc(0))).toBe(false);
});

it('sealed objects that were changed, cut off or put in the place of others cannot be read', async () => {
  const { store } = await openObjects();
  await new SealedObjectStore(store, [secret]).put('one', inPieces(randomBytes(3 * chunk)));
  const flipped = (at: number) => (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  const changes: [string, (bytes: Buffer) => Buffer][] = [
    ['a bit', flipped(100)],
    ['a bit of the last chunk', (bytes) => flipped(bytes.length - 20)(bytes)],
    ['the salt', flipped(3)],
    ['the end', (bytes) => bytes.subarray(0, -1)],
    ['the last chunk', (bytes) => bytes.subarray(0, 32 + 2 * (chunk + 16))],
    ['everything', (bytes) => bytes.subarray(0, 32)],
    ['the order', (bytes) => Buffer.concat([bytes.subarray(0, 32), ...[1, 0, 2].map((at) => sealed(bytes, at))])],
  ];
  for (const [what, change] of changes) {
    const spoilt = new SealedObjectStore(changed(store, change), [secret]);
    const reading = async (): Promise<unknown> => allOf(await spoilt.get('one'));
    await expect(reading(), what).rejects.toMatchObject({ code: 'store_unavailable' });
  }
  const bytes = await allOf(await store.get('one-sealed'));
  await store.put('two-sealed', inPieces(bytes ?? Buffer.alloc(0)));
  const swapped = new SealedObjectStore(store, [secret]);
  await expect(swapped.get('two')).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('sealed objects are opened with every secret that is set, and with no other', async () => {
  const { store } = await openObjects();
  const newer = randomBytes(32);
  await new SealedObjectStore(store, [secret]).put('one', inPieces(Buffer.from('old')));
  const both = new SealedObjectStore(store, [newer, secret]);
  expect(String(await allOf(await both.get('one')))).toBe('old');
  await both.put('two', inPieces(Buffer.from('new')));
  const alone = new SealedObjectStore(store, [newer]);
  expect(String(await allOf(await alone.get('two')))).toBe('new');
  await expect(alone.get('one')).rejects.toMatchObject({ code: 'store_unavailable' });
});

it('sealed objects stand beside those that were stored before there was a secret', async () => {
  const { store } = await openObjects();
  const sealed = new SealedObjectStore(store, [secret]);
  await store.put('plain', inPieces(Buffer.from('plain text')));
  expect(String(await allOf(await sealed.get('plain', { from: 6 })))).toBe('text');
  expect(await sealed.get('none')).toBeUndefined();
  await sealed.delete('plain');
  expect(await store.get('plain')).toBeUndefined();
});
