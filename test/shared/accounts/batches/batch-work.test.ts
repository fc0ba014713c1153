import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BatchState, NewBatch } from '#shared/accounts/batches/batch-record.ts';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { toObjectResult, sealResult, type LineResult } from '#shared/accounts/batches/line-result.ts';
import type { SlicePart } from '#shared/accounts/batches/slice.ts';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { FileRecords } from '#shared/accounts/files/file-records.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeOwners } from '../../../helpers/accounts/make-owners.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { admin, openLedger } from '../../../helpers/accounts/open-ledger.ts';
import { readAllValues } from '../../../helpers/accounts/read-all-values.ts';

const keys = new OwnerKeys(() => [randomBytes(32)]);
const hourMs = 3_600_000;
const slice = { id: 'batch_1', slice: 0 };

async function open(maxOpen = 10, maxKept = 100) {
  const opened = await openKeyStore();
  const { redis, prefix, noteUnreadable: report } = opened;
  const bounds = { maxOpen, keepMs: hourMs, maxKept };
  const sealer = keys.storeSealer('ada');
  const { ledger, reader } = await openLedger({}, opened);
  const files = new FileRecords(redis, prefix, { bounds: { ownerBytes: 1_000, totalBytes: 1_000 }, report });
  const work = new BatchWork(redis, prefix, { report });
  return {
    ...opened,
    /** Records a line of the slice, with its requests, as a runner does without interruption. */
    record: async (line: number, result: LineResult, ...requests: UsageRecord[]): Promise<boolean> =>
      work.recordLine({ ...slice, line }, await sealResult(result, sealer), usage, ledger.createEntry(requests)),
    /** The stored results of a slice. */
    upload: async (object: string): Promise<SlicePart> => {
      await files.reserve({ owner: 'ada', object, bytes: 5, begins: true, kind: 'part' });
      return { object, bytes: 5 };
    },
    results: async (lines: number[], by = sealer) => {
      const found: (Partial<LineResult> | undefined)[] = [];
      for await (const result of work.readResults('batch_1', 0, lines, by)) found.push(result);
      return found;
    },
    fail: (id = 'batch_1', from: BatchState = 'running') => work.move(id, { from, to: 'failed', timed: 'failedAt' }),
    noEntry: ledger.createEntry([]),
    find: async (id = 'batch_1') => made(await work.find(id)),
    batches: new Batches(redis, prefix, { bounds, report }),
    work,
    reader,
  };
}

function batch(id: string, change: Partial<NewBatch> = {}): NewBatch {
  const createdAt = Date.now();
  const what = { api: 'openai', path: '/chat/completions', endpoint: '/v1/chat/completions', inputFile: 'f1' };
  const times = { createdAt, expiresAt: createdAt + hourMs, window: '24h' };
  return { id, owner: 'ada', key: 'k1', ...what, ...times, metadata: { purpose: 'test' }, total: 0, ...change };
}

const usage = { promptTokens: 5, cachedTokens: 1, completionTokens: 7, reasoningTokens: 2, cost: 120 };

const answered: LineResult = { outcome: 'succeeded', text: '{"custom_id":"a"}' };
const failed: LineResult = { outcome: 'errored', text: '{"custom_id":"b"}' };
const cancelled = { recorded: 0, cancelled: 1, expired: 0 };

/** Creates a batch with one slice of so many lines. */
async function running(lines: number) {
  const opened = await open();
  const { batches, work } = opened;
  await batches.create(batch('batch_1'));
  await work.writeSlices('batch_1', [{ from: 0, to: 100, lines, first: 1 }]);
  const fields = { total: lines, slices: 1, slicesLeft: 1 };
  expect(await work.move('batch_1', { from: 'validating', to: 'running', fields, timed: 'runningAt' })).toBe(true);
  return opened;
}

it('an owner keeps a bounded number of batches: a new one removes the oldest that is over, and none that is not', async () => {
  const { batches, work, fail, redis, prefix } = await open(10, 3);
  const create = (number: number) => batches.create(batch(`batch_${number}`, { createdAt: Date.now() + number }));
  for (const number of [1, 2, 3, 4]) await create(number);
  const ids = async () => (await batches.list('ada', 'openai', { limit: 10 }))?.batches.map(({ id }) => id);
  // None is over.
  expect(await ids()).toEqual(['batch_4', 'batch_3', 'batch_2', 'batch_1']);
  for (const number of [2, 3]) await fail(`batch_${number}`, 'validating');
  await create(5);
  expect(await ids()).toEqual(['batch_5', 'batch_4', 'batch_1']);
  expect(await work.find('batch_2')).toBeUndefined();
  expect(await redis.keys(`${prefix}batch*batch_3*`)).toEqual([]);
});

describe('a line', () => {
  it('that two runners execute at the same time is recorded, counted and charged once', async () => {
    const { find, record, results, reader } = await running(2);
    const recordAs = (line: number, result: LineResult) => record(line, result, ledgerRecord({ id: `r${line}` }));
    const recorded = [recordAs(0, answered), recordAs(0, failed), recordAs(1, failed), recordAs(0, answered)];
    expect(await Promise.all(recorded)).toEqual([true, false, true, false]);
    const found = await find();
    const twice = { promptTokens: 10, cachedTokens: 2, completionTokens: 14, reasoningTokens: 4, cost: 240 };
    expect(found).toMatchObject({ succeeded: 1, errored: 1, ...twice });
    const { runningAt = 0, lineAt = 0 } = found;
    expect(runningAt > 0 && lineAt >= runningAt).toBe(true);
    expect(await results([0, 1])).toEqual([answered, failed]);
    const { requests } = await reader.listRequests(admin, {}, 10);
    expect(requests.map(({ id }) => id).toSorted()).toEqual(['r0', 'r1']);
  });

  it('is refused once its slice is over, so that only results in a file are charged', async () => {
    const { work, record, upload } = await running(2);
    await record(0, answered);
    const counts = { recorded: 1, cancelled: 0, expired: 1 };
    expect(await work.endSlice(slice, counts, { output: await upload('o1') })).toBe('ended');
    expect(await record(1, answered)).toBe(false);
    expect(await work.find('batch_1')).toMatchObject({ succeeded: 1, expired: 1, slicesLeft: 0, cost: 120 });
    expect(await work.readSliceResults('batch_1', 0)).toEqual({ output: ['o1'], errors: [] });
  });

  it('has a result in Redis that only its owner can open', async () => {
    const { redis, prefix, record, results } = await running(1);
    await record(0, answered);
    expect(await readAllValues(redis, prefix)).not.toContain('custom_id');
    expect(await results([0], keys.storeSealer('bob'))).toEqual([undefined]);
  });

  it('is read in the order of its slice, however large the results are', async () => {
    const { record, results } = await running(9);
    const texts = Array.from({ length: 9 }, (_, line) => String(line).repeat(line % 3 === 0 ? 900_000 : 9));
    for (const [line, text] of texts.entries()) await record(line, { outcome: 'succeeded', text });
    const found = await results([...texts.keys()]);
    expect(found.map((result) => result?.text)).toEqual(texts);
  });

  it('has its object held by the batch once, also when it is recorded again because the answer was lost', async () => {
    const { work, noEntry, results, fail, redis, prefix, upload } = await running(2);
    const record = (part: SlicePart) =>
      work.recordLine({ ...slice, line: 0 }, toObjectResult(part, answered), usage, noEntry);
    const [first, second] = [await upload('o1'), await upload('o2')];
    expect([await record(first), await record(second), await record(first)]).toEqual([true, false, true]);
    expect(await work.find('batch_1')).toMatchObject({ succeeded: 1, cost: 120 });
    expect(await redis.hgetall(`${prefix}file-holds`)).toEqual({ o1: '1' });
    expect(await redis.hkeys(`${prefix}file-uploads`)).toEqual(['o2']);
    expect(await results([0])).toEqual([{ outcome: 'succeeded', object: 'o1' }]);
    await fail();
    expect(await work.release('batch_1')).toEqual({ objects: ['o1'], left: 0 });
  });

  it('is not recorded with an object whose upload counts as dead, nor does its slice end with one', async () => {
    const { work, noEntry } = await running(1);
    const output = { object: 'unknown', bytes: 5 };
    const line = { ...slice, line: 0 };
    await expect(work.recordLine(line, toObjectResult(output, answered), usage, noEntry)).rejects.toThrow();
    expect(await work.listRecordedLines('batch_1', 0)).toEqual(new Set());
    expect(await work.endSlice(slice, cancelled, { output })).toBe('lapsed');
    expect(await work.find('batch_1')).toMatchObject({ succeeded: 0, cost: 0, cancelled: 0, slicesLeft: 1 });
  });
});

it('the first errors of a batch are kept in the order in which they were recorded, each line once, up to a maximum', async () => {
  const { work, record, batches, fail } = await running(30);
  expect(await work.readFirstErrors('batch_1')).toEqual([]);
  for (const line of [3, 3, ...Array(30).keys()])
    await record(line, { ...failed, error: { code: 'upstream_failed', line: line + 1 } });
  const errors = await work.readFirstErrors('batch_1');
  expect(errors).toHaveLength(20);
  expect(errors.slice(0, 3)).toEqual([4, 1, 2].map((line) => ({ code: 'upstream_failed', line })));
  await fail();
  await batches.delete('batch_1');
  expect(await work.readFirstErrors('batch_1')).toEqual([]);
});

it('a slice has a position in the input, and does not end without a result that was recorded meanwhile', async () => {
  const { work, record } = await running(1);
  // It is not written again once its batch runs.
  await work.writeSlices('batch_1', [{ from: 50, to: 60, lines: 9, first: 1 }]);
  expect(await work.readSlice('batch_1', 0)).toEqual({ from: 0, to: 100, lines: 1, first: 1 });
  await record(0, answered);
  expect(await work.endSlice(slice, cancelled, {})).toBe('changed');
  expect(await work.find('batch_1')).toMatchObject({ cancelled: 0, slicesLeft: 1 });
});

it('a slice ends once, whoever tries', async () => {
  const { work, upload } = await running(1);
  const uploads = [await upload('a'), await upload('b')];
  const ends = await Promise.all(uploads.map((output) => work.endSlice(slice, cancelled, { output })));
  expect(ends).toEqual(['ended', 'was over']);
  expect(await work.readSliceResults('batch_1', 0)).toEqual({ output: ['a'], errors: [] });
  expect(await work.find('batch_1')).toMatchObject({ cancelled: 1, slicesLeft: 0 });
});

const dayMs = 24 * hourMs;

it('what belongs to a batch in Redis is kept for as long as its record, however long its window is', async () => {
  const { batches, work, record, redis, prefix } = await open();
  await batches.create(batch('batch_1', { expiresAt: Date.now() + dayMs }));
  await work.writeSlices('batch_1', [{ from: 0, to: 100, lines: 1, first: 1 }]);
  await work.move('batch_1', { from: 'validating', to: 'running', fields: { slices: 1, slicesLeft: 1 } });
  await record(0, answered);
  for (const name of ['batch:batch_1', 'batch-slices:batch_1', 'batch-results:batch_1:0'])
    expect(await redis.pttl(`${prefix}${name}`), name).toBeGreaterThan(dayMs + hourMs - 60_000);
});

it('what belongs to a batch in Redis lists the objects that the batch holds until it releases them', async () => {
  const { work, redis, prefix, upload } = await running(1);
  await work.endSlice(slice, cancelled, { output: await upload('o1') });
  expect(await work.release('batch_1')).toEqual({ objects: [], left: 0 });
  expect(await redis.pttl(`${prefix}batch-held:batch_1`)).toBe(-1);
  await redis.del(`${prefix}batch:batch_1`);
  expect(await work.listOrphans(9)).toEqual(['batch_1']);
  expect(await work.release('batch_1')).toEqual({ objects: ['o1'], left: 0 });
  await work.drop('batch_1');
  expect(await work.listOrphans(9)).toEqual([]);
});

it('what belongs to a batch in Redis is gone once the batch is over', async () => {
  const { work, upload, fail } = await running(1);
  await fail();
  await work.close('batch_1');
  expect(await work.endSlice(slice, cancelled, { output: await upload('o1') })).toBe('was over');
  expect(await work.holdInput('batch_1')).toBeUndefined();
  await work.writeSlices('batch_1', [{ from: 0, to: 100, lines: 1, first: 1 }]);
  expect(await work.readSlice('batch_1', 0)).toBeUndefined();
  expect([await work.release('batch_1'), await work.listOpen()]).toEqual([{ objects: [], left: 0 }, []]);
});

it('what belongs to a batch in Redis keeps the batch in the list of its owner for as long as it is known, whatever they create after it', async () => {
  const { batches, redis, prefix } = await open();
  const createdAt = Date.now() - 3 * hourMs;
  await batches.create(batch('batch_1', { createdAt, expiresAt: createdAt + dayMs }));
  await batches.create(batch('batch_2', { createdAt: createdAt + 1, expiresAt: createdAt + dayMs }));
  await redis.del(`${prefix}batch:batch_2`);
  await batches.create(batch('batch_3'));
  const name = `${prefix}batches-of:openai:ada`;
  expect(await redis.zrange(name, '0', '-1')).toEqual(['batch_1', 'batch_3']);
  expect(await redis.pttl(name)).toBeGreaterThan(dayMs - 3 * hourMs + hourMs - 60_000);
});

const pause = { until: Date.now() + 10_000, reason: 'a budget', pausesAllLines: true };

it('a pause is stored and removed while its batch is unfinished, and creates no record for a batch that is gone', async () => {
  const { work, find, batches, redis, prefix, fail } = await running(1);
  const after = async (given: typeof pause | undefined) => {
    await work.setPause('batch_1', given);
    const { pausedUntil, pausedFor } = await find();
    return [pausedUntil, pausedFor];
  };
  expect(await after(pause)).toEqual([pause.until, 'a budget']);
  expect(await after(undefined)).toEqual([undefined, undefined]);
  await fail();
  expect(await after(pause)).toEqual([undefined, undefined]);
  await batches.delete('batch_1');
  await work.setPause('batch_1', pause);
  expect(await redis.exists(`${prefix}batch:batch_1`)).toBe(0);
});

it('a pause is not shown to the owner a minute after it has ended, if nobody has renewed it', async () => {
  const { work, batches } = await running(1);
  const shown = async (until: number) => {
    await work.setPause('batch_1', { until, reason: 'a budget', pausesAllLines: true, lacksWorker: true });
    const listed = (await batches.list('ada', 'openai', { limit: 1 }))?.batches ?? [];
    return [await batches.find('ada', 'openai', 'batch_1'), ...listed].map((found) => [
      found?.pausedFor,
      found?.blockedUntil,
      found?.lacksWorker,
    ]);
  };
  const until = Date.now() - 30_000;
  const current = ['a budget', until, true];
  expect(await shown(until)).toEqual([current, current]);
  const none = [undefined, undefined, undefined];
  expect(await shown(Date.now() - 61_000)).toEqual([none, none]);
});

it('a batch is found, listed and cancelled only by its owner, and removed only when it is over', async () => {
  const { batches, fail } = await open();
  const findOf = (owner: string, api = 'openai') => batches.find(owner, api, 'batch_1');
  const none = { batches: [], hasMore: false };
  await batches.create(batch('batch_1'));
  const created = { state: 'validating', total: 0, metadata: { purpose: 'test' } };
  expect(await findOf('ada')).toMatchObject(created);
  expect([await findOf('bob'), await findOf('ada', 'anthropic')]).toEqual([undefined, undefined]);
  expect(await batches.list('bob', 'openai', { limit: 5 })).toEqual(none);
  expect(await batches.cancel('batch_1')).toBe(true);
  expect((await findOf('ada'))?.cancelledAt).toBeGreaterThan(0);
  expect(await batches.delete('batch_1')).toBe(false);
  await fail('batch_1', 'validating');
  expect(await batches.delete('batch_1')).toBe(true);
  expect(await findOf('ada')).toBeUndefined();
  expect(await batches.list('ada', 'openai', { limit: 5 })).toEqual(none);
});

it('a batch leaves each state once, and is worked on until it is closed', async () => {
  const { work, batches } = await running(1);
  const finish = { from: 'running', to: 'finishing', timed: 'finishingAt' } as const;
  expect(await Promise.all([work.move('batch_1', finish), work.move('batch_1', finish)])).toEqual([true, false]);
  expect(await work.move('batch_1', { from: 'finishing', to: 'ended', timed: 'endedAt' })).toBe(true);
  expect((await work.listOpen()).map(({ id }) => id)).toEqual(['batch_1']);
  expect([await batches.countAllOpen(), await work.countOpen('ada'), await work.countOpen('bob')]).toEqual([1, 1, 0]);
  await work.close('batch_1');
  expect(await work.listOpen()).toEqual([]);
  expect([await batches.countAllOpen(), await work.countOpen('ada')]).toEqual([0, 0]);
  expect(await work.find('batch_1')).toMatchObject({ state: 'ended' });
});

it('a batch is one of a bounded number of unfinished ones', async () => {
  const { batches, work, fail } = await open(2);
  for (const id of ['batch_1', 'batch_2']) await batches.create(batch(id));
  await expect(batches.create(batch('batch_3'))).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  await batches.create(batch('batch_4', { owner: 'bob' }));
  await fail('batch_1', 'validating');
  await work.close('batch_1');
  await batches.create(batch('batch_3'));
  expect(await batches.find('ada', 'openai', 'batch_3')).toBeDefined();
});

it('a batch is cancelled when its owner is deleted, unless it is over; batches of others are not', async () => {
  const { accounts, batches, find, fail } = await open();
  const { key, team, end } = await makeOwners(accounts);
  for (const owner of [key.id, team.id, 'ada'])
    for (const name of ['over', 'open']) await batches.create(batch(`${owner}-${name}`, { owner }));
  await fail(`${team.id}-over`, 'validating');
  await end();
  for (const id of [`${key.id}-over`, `${key.id}-open`, `${team.id}-open`])
    expect((await find(id)).cancelledAt).toBeGreaterThan(Date.now() - hourMs);
  for (const id of [`${team.id}-over`, 'ada-over', 'ada-open']) expect((await find(id)).cancelledAt).toBeUndefined();
});

it('a batch is listed newest first, in pages in both directions, also from one that was removed', async () => {
  const { batches, fail } = await open();
  const now = Date.now();
  for (const at of [1, 2, 3, 4, 5]) await batches.create(batch(`batch_${at}`, { createdAt: now + at }));
  /** The batches of a page, with `…` behind them where more follow. */
  const ids = async (page: Partial<Parameters<Batches['list']>[2]>) => {
    const found = await batches.list('ada', 'openai', { limit: 2, ...page });
    return found && found.batches.map(({ id }) => id.slice(-1)).join('') + (found.hasMore ? '…' : '');
  };
  const behind = [undefined, 'batch_4', 'batch_2'].map((after) => ids({ after }));
  expect(await Promise.all(behind)).toEqual(['54…', '32…', '1']);
  const ahead = [{ before: 'batch_2' }, { limit: 5, before: 'batch_4' }];
  expect(await Promise.all(ahead.map(ids))).toEqual(['43…', '5']);
  expect(await ids({ after: 'batch_unknown' })).toBeUndefined();
  for (const id of ['batch_4', 'batch_5']) {
    await fail(id, 'validating');
    await batches.delete(id);
  }
  const beside = [{ after: 'batch_4' }, { before: 'batch_4' }, { limit: 5, after: 'batch_5' }];
  expect(await Promise.all(beside.map(ids))).toEqual(['32…', '', '321']);
  expect(await batches.list('bob', 'openai', { limit: 5, after: 'batch_5' })).toBeUndefined();
});
