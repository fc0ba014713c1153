import { expect, it } from 'vitest';
import { FileRecords, type FileBounds, type FileRecord } from '#shared/accounts/files/file-records.ts';
import { makeOwners } from '../../../helpers/accounts/make-owners.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { until } from '../../../helpers/until.ts';

const roomy: FileBounds = { ownerBytes: 1_000_000, totalBytes: 10_000_000 };

const open = useKeyStore();

function openRecords(bounds: Partial<FileBounds> = {}): FileRecords {
  return new FileRecords(open.redis, open.prefix, { bounds: { ...roomy, ...bounds }, report: open.noteUnreadable });
}

function record(id: string, facts: Partial<FileRecord> = {}): FileRecord {
  const type = { purpose: 'user_data', name: `${id}.txt`, mimeType: 'text/plain' };
  return { id, object: `object-${id}`, ...type, bytes: 10, sha256: 'ab', lines: 1, createdAt: Date.now(), ...facts };
}

function reserve(records: FileRecords, owner: string, object: string, bytes: number): Promise<void> {
  return records.reserve({ owner, object, bytes, begins: true, kind: 'file' });
}

async function add(records: FileRecords, owner: string, file: FileRecord): Promise<void> {
  await reserve(records, owner, file.object, file.bytes);
  await records.keep(owner, file);
}

const newest = { newestFirst: true, limit: 100 };
const quotaExceeded = { code: 'storage_quota_exceeded' };

it('the records of files are found, listed and removed only by their owner', async () => {
  const records = openRecords();
  const file = record('a');
  await add(records, 'ada', file);
  expect(await records.find('ada', 'a')).toEqual(file);
  for (const id of ['a', 'ada:a', '*', '']) expect(await records.find('bob', id)).toBeUndefined();
  expect(await records.list('bob', newest)).toEqual({ files: [], hasMore: false });
  expect(await records.delete('bob', 'a')).toBeUndefined();
  expect(await records.delete('ada', 'a')).toBe('object-a');
  expect(await records.delete('ada', 'a')).toBeUndefined();
  expect(await records.find('ada', 'a')).toBeUndefined();
});

it('the records of files are listed page by page in both orders and directions, also of one purpose', async () => {
  const records = openRecords();
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const [at, id] of ids.entries())
    await add(records, 'ada', record(id, { purpose: at % 2 === 0 ? 'batch' : 'vision', createdAt: 5 }));
  /** The files of a page, with `…` behind them where more follow. */
  const page = async (query: object): Promise<string | undefined> => {
    const found = await records.list('ada', { newestFirst: true, limit: 3, ...query });
    return found && `${found.files.map(({ id }) => id).join('')}${found.hasMore ? '…' : ''}`;
  };
  const oldest = { newestFirst: false };
  const behind = [undefined, 'e', 'b', 'a'].map((after) => page({ after }));
  expect(await Promise.all(behind)).toEqual(['gfe…', 'dcb…', 'a', '']);
  const ahead = ['a', 'd', 'g'].map((before) => page({ before }));
  expect(await Promise.all(ahead)).toEqual(['dcb…', 'gfe', '']);
  expect(await page({ ...oldest, after: 'c' })).toBe('def…');
  expect(await page({ purpose: 'vision' })).toBe('fdb');
  expect(await page({ purpose: 'batch', after: 'g', limit: 2 })).toBe('ec…');
  for (const unknown of [{ after: 'unknown' }, { purpose: 'vision', after: 'g' }])
    expect(await page(unknown)).toBeUndefined();
  for (const id of ['g', 'f', 'e']) await records.delete('ada', id);
  const beside = [{ after: 'e' }, { before: 'e' }, { purpose: 'batch', after: 'e' }];
  expect(await Promise.all(beside.map(page))).toEqual(['dcb…', '', 'ca']);
  expect(await page({ ...oldest, before: 'f' })).toBe('bcd…');
  expect(await page({ ...oldest, after: 'f' })).toBe('');
});

it('the records of files leave nothing in Redis after their removal but their place for an hour, and the entry to remove their objects', async () => {
  const records = openRecords();
  await add(records, 'ada', record('a'));
  await reserve(records, 'ada', 'upload', 500);
  await records.abandon('upload');
  await records.delete('ada', 'a');
  expect((await records.takeRemovals(10)).sort()).toEqual(['object-a', 'upload']);
  expect(await records.takeRemovals(10)).toEqual([]);
  for (const object of ['object-a', 'upload']) await records.noteRemoved(object);
  const left = (await open.redis.keys(`${open.prefix}*`)).map((name) => name.slice(open.prefix.length));
  expect(left.sort()).toEqual(['file-number', 'file-places:ada', 'file-total']);
  expect(await open.redis.pttl(`${open.prefix}file-places:ada`)).toBeGreaterThan(3_500_000);
  expect(await open.redis.get(`${open.prefix}file-total`)).toBe('0');
});

it('the records of files that an owner creates and removes without end leave a bounded number of places', async () => {
  const records = openRecords();
  for (let at = 0; at < 1_100; at += 1) {
    await add(records, 'ada', record(`f${at}`));
    await records.delete('ada', `f${at}`);
    await records.noteRemoved(`object-f${at}`);
  }
  const names = await open.redis.keys(`${open.prefix}*`);
  expect(names.length).toBeLessThan(6);
  const sizes = await Promise.all(names.filter((name) => name.includes('places')).map((name) => open.redis.hlen(name)));
  expect(sizes.sort((one, other) => one - other)).toEqual([100, 500]);
  await add(records, 'ada', record('next'));
  const behind = { newestFirst: false, limit: 5 };
  for (const after of ['f1099', 'f600'])
    expect(await records.list('ada', { ...behind, after })).toMatchObject({ files: [{ id: 'next' }] });
  expect(await records.list('ada', { ...behind, after: 'f499' })).toBeUndefined();
});

it('the files of an owner take half of what those of others leave, so that a few owners cannot fill the store', async () => {
  const records = openRecords({ totalBytes: 1_600 });
  const full = { code: 'storage_full', message: expect.stringContaining('half of what the files of others leave') };
  await expect(reserve(records, 'ada', 'a', 751)).rejects.toMatchObject(quotaExceeded);
  await reserve(records, 'ada', 'a', 750);
  await expect(records.assertRoom('ada')).rejects.toMatchObject(quotaExceeded);
  await expect(reserve(records, 'bob', 'b', 376)).rejects.toMatchObject(full);
  await reserve(records, 'bob', 'b', 375);
  for (const [owner, bytes] of Object.entries({ cleo: 187, dan: 94, eve: 47 }))
    await reserve(records, owner, owner, bytes);
  await records.assertRoom('fay');
  await reserve(records, 'fay', 'f', 23);
  await records.abandon('a');
  // Results count twice until they are joined.
  await records.reserve({ owner: 'ada', object: 'part', bytes: 258, begins: true, kind: 'part' });
  await expect(records.assertRoom('ada')).rejects.toMatchObject(full);
});

it('the records of files of a newer release are read as far as this one defines their fields, and unreadable ones are left out', async () => {
  const records = openRecords();
  for (const id of ['a', 'b']) await add(records, 'ada', record(id));
  const name = `${open.prefix}files-of:ada`;
  await open.redis.hset(name, 'a', JSON.stringify({ ...record('a'), colour: 'blue' }), 'b', '{"id":"b"}');
  expect((await records.list('ada', newest))?.files.map(({ id }) => id)).toEqual(['a']);
  expect(await records.find('ada', 'b')).toBeUndefined();
  expect(open.unreadable[0]).toContain('a file: object: invalid_type');
});

it('the bounds of files hold when many uploads of one owner race, to the byte', async () => {
  const records = openRecords({ ownerBytes: 1_000 });
  const racing = Array.from({ length: 50 }, (_, at) => reserve(records, 'ada', `object-${at}`, 100));
  const outcomes = await Promise.allSettled(racing);
  const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(refusals).toMatchObject(Array.from({ length: 40 }, () => quotaExceeded));
  // Another owner has room of its own, and released room is available again.
  await reserve(records, 'bob', 'object-of-bob', 1_000);
  const first = outcomes.findIndex(({ status }) => status === 'fulfilled');
  await records.abandon(`object-${first}`);
  await reserve(records, 'ada', 'late', 100);
  await expect(reserve(records, 'ada', 'later', 1)).rejects.toMatchObject(quotaExceeded);
});

it('the bounds of files count the bytes of a file in place of those that its upload has reserved', async () => {
  const records = openRecords({ ownerBytes: 1_000 });
  await reserve(records, 'ada', 'object-a', 900);
  await records.keep('ada', record('a', { bytes: 300 }));
  await reserve(records, 'ada', 'object-b', 700);
  const more = { owner: 'ada', object: 'object-b', bytes: 300, begins: false, kind: 'file' } as const;
  await expect(records.reserve(more)).rejects.toMatchObject(quotaExceeded);
  await records.delete('ada', 'a');
  await records.reserve(more);
});

it('the bounds of files of all owners together have an error of their own', async () => {
  const records = openRecords({ totalBytes: 1_000 });
  await records.reserve({ owner: 'ada', object: 'part', bytes: 490, begins: true, kind: 'part' });
  await records.abandon('part');
  const result = { owner: 'ada', object: 'result', bytes: 501, begins: true, kind: 'part' } as const;
  await expect(records.reserve(result)).rejects.toMatchObject({
    code: 'storage_full',
    message: 'The storage for files is full.',
  });
});

it('the bounds of files do not stop the result of finished work, which counts all the same', async () => {
  const records = openRecords({ ownerBytes: 100 });
  await records.reserve({ owner: 'ada', object: 'result', bytes: 500, begins: true, kind: 'part' });
  await records.keep('ada', record('r', { object: 'result', bytes: 500 }));
  await expect(reserve(records, 'ada', 'more', 1)).rejects.toMatchObject(quotaExceeded);
});

it('the results of batches leave room for the files that they are joined into, and give it back', async () => {
  const records = openRecords({ totalBytes: 1_000 });
  const place = { owner: 'ada', begins: true };
  await records.reserve({ ...place, object: 'part', bytes: 300, kind: 'part' });
  const full = { code: 'storage_full' };
  await expect(reserve(records, 'bob', 'b', 169)).rejects.toMatchObject(full);
  await expect(records.reserve({ ...place, object: 'more', bytes: 201, kind: 'part' })).rejects.toMatchObject(full);
  await reserve(records, 'bob', 'b', 168);
  await expect(records.assertRoom('ada')).rejects.toMatchObject(full);
  await records.reserve({ ...place, object: 'joined', bytes: 300, kind: 'join' });
  // The owner has it once: as a part, and then as a file.
  expect((await records.readUse('ada')).bytes).toBe(300);
  await records.abandon('part');
  await records.keep('ada', record('j', { object: 'joined', bytes: 300 }));
  expect([(await records.readUse('ada')).bytes, await records.readTotalBytes()]).toEqual([300, 468]);
  await reserve(records, 'bob', 'c', 150);
  expect(await open.redis.get(`${open.prefix}file-joins`)).toBe('0');
});

it('an expired file is unknown, gives back its room, and has its object listed for removal', async () => {
  const records = openRecords({ ownerBytes: 10 });
  await add(records, 'ada', record('a', { expiresAt: Date.now() + 50 }));
  await until(async () => (await records.find('ada', 'a')) === undefined);
  expect(await records.list('ada', newest)).toEqual({ files: [], hasMore: false });
  await add(records, 'ada', record('b'));
  expect(await records.takeRemovals(10)).toEqual(['object-a']);
});

it('an upload whose process dies gives back its room, and cannot become a file afterwards', async () => {
  const records = openRecords({ ownerBytes: 100 });
  await reserve(records, 'ada', 'object-a', 100);
  expect(await records.takeRemovals(10)).toEqual([]);
  // Its lease has ended.
  await open.redis.zadd(`${open.prefix}file-removals`, 1, 'object-a');
  expect(await records.takeRemovals(10)).toEqual(['object-a']);
  await reserve(records, 'ada', 'object-b', 100);
  const lapsed = { code: 'store_unavailable' };
  await expect(records.keep('ada', record('a'))).rejects.toMatchObject(lapsed);
  const goesOn = { owner: 'ada', object: 'object-a', bytes: 0, begins: false, kind: 'file' } as const;
  await expect(records.reserve(goesOn)).rejects.toMatchObject(lapsed);
  expect(await records.find('ada', 'a')).toBeUndefined();
});

it('a deleted owner loses its files, and those of uploads that still run, and nothing of others is removed', async () => {
  const records = openRecords();
  const { key, team, end } = await makeOwners(open.accounts);
  for (const owner of [key.id, team.id, 'ada']) {
    await add(records, owner, record(`f-${owner}`));
    await reserve(records, owner, `running-${owner}`, 5);
  }
  await end();
  for (const owner of [key.id, team.id]) {
    expect(await records.find(owner, `f-${owner}`)).toBeUndefined();
    const late = record('late', { object: `running-${owner}` });
    await expect(records.keep(owner, late)).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(reserve(records, owner, 'new', 1)).rejects.toMatchObject(quotaExceeded);
  }
  expect((await records.takeRemovals(10)).sort()).toEqual([`object-f-${key.id}`, `object-f-${team.id}`].sort());
  expect(await records.find('ada', 'f-ada')).toBeDefined();
});
