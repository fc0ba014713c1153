import { randomBytes } from 'node:crypto';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import type { BatchParts } from '#services/batch-runner/batches/batch-parts.ts';
import { endSlice } from '#services/batch-runner/batches/end-slice.ts';
import { finishBatch } from '#services/batch-runner/batches/finish-batch.ts';
import { BatchRepair } from '#services/batch-runner/batches/repair-batches.ts';
import { runSlice, type RunSliceParts } from '#services/batch-runner/batches/run-slice.ts';
import { validateBatch } from '#services/batch-runner/batches/validate-batch.ts';
import { HeldBatches } from '#services/batch-runner/slots/held-batches.ts';
import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { BatchWork, type LineResult } from '#shared/accounts/batches/batch-work.ts';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { removeFilesOf } from '#shared/accounts/files/remove-files-of.ts';
import { FileRecords } from '#shared/accounts/files/file-records.ts';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { storeUnavailable } from '#shared/accounts/redis/ask-redis.ts';
import { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { endingJob, sliceJob } from '#shared/background/batch-jobs.ts';
import type { Measured } from '#shared/core/byte-meter.ts';
import { createLog } from '#shared/core/log.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { Files } from '#shared/files/files.ts';
import type { ObjectStore } from '#shared/files/object-store.ts';
import { formatsOf, type BatchFormats } from '#shared/formats/batches/formats-of.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { chatLine } from '../../../helpers/batches/batch-clients.ts';
import { allOf, inPieces } from '../../../helpers/files/bytes.ts';
import { openObjects } from '../../../helpers/files/open-objects.ts';

const log = createLog({ service: 'test', level: 'silent', format: 'json' });
const keys = new OwnerKeys(() => [randomBytes(32)]);
const hourMs = 3_600_000;
const id = 'batch_1';
const owner = 'ada';
const input = ['a', 'b'].map((name) => `${JSON.stringify(chatLine(name, 'Hi.'))}\n`).join('');
const noUse = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0, cost: 0 };

/** What runners work with, and a batch of two lines that is to be validated. */
async function open() {
  const { connection, prefix } = await openKeyStore(inject('redisUrl'));
  const { store } = await openObjects();
  const report = (): void => undefined;
  const bounds = { ownerBytes: 1e6, totalBytes: 1e6 };
  const records = new FileRecords(connection.redis, prefix, { bounds, report });
  const files = new Files({ records, store, fileBytes: 1e6, fileLines: 100, log });
  const jobs = new BackgroundJobs({ url: inject('redisUrl'), prefix, log });
  onTestFinished(() => jobs.close());
  const work = new BatchWork(connection.redis, prefix, { report });
  const parts: BatchParts = {
    work,
    jobs,
    objects: store,
    files,
    formats: clientFormats,
    isKnownModel: () => true,
    resultsKeptMs: hourMs,
    maxLineBytes: 10_000,
    log,
  };
  const { id: inputFile } = await files.add(owner, inPieces(Buffer.from(input)), {
    purpose: 'batch',
    name: 'in.jsonl',
  });
  const batches = new Batches(connection.redis, prefix, { bounds: { mostOpen: 10, keepMs: hourMs }, report });
  const what = { api: 'openai', path: '/chat/completions', endpoint: '/v1/chat/completions' };
  const createdAt = Date.now();
  await batches.create({ id, owner, key: 'k', ...what, inputFile, createdAt, expiresAt: createdAt + hourMs, total: 0 });
  const ledger = new UsageLedger(connection.redis, prefix, log, { maxRequests: 100, requestsKeptMs: hourMs });
  const found = async (): Promise<BatchRecord> => {
    const batch = await work.find(id);
    if (!batch) throw new Error('the batch is gone');
    return batch;
  };
  const removeOwner = () => removeFilesOf(connection.redis, prefix, owner);
  return {
    parts,
    removeOwner,
    work,
    store,
    files,
    batches,
    ledger,
    found,
    textOf: async (name: string) => String(await read(store, name)),
  };
}

async function read(store: ObjectStore, name: string): Promise<Buffer | undefined> {
  return allOf(await store.get(name));
}

/** A runner that has read the input of a batch, and then stands still until another one has begun the batch. */
function lateRunner(parts: BatchParts, goOn: (put: () => Promise<Measured>) => Promise<Measured>) {
  const arrived = Promise.withResolvers<void>();
  const wake = Promise.withResolvers<void>();
  const { objects } = parts;
  const still = async (): Promise<void> => {
    arrived.resolve();
    await wake.promise;
  };
  const late: ObjectStore = {
    get: (...args) => objects.get(...args),
    delete: async (name) => {
      await still();
      await objects.delete(name);
    },
    put: async (...args) => {
      await still();
      return goOn(() => objects.put(...args));
    },
  };
  return { parts: { ...parts, objects: late }, arrived: arrived.promise, wake: () => wake.resolve() };
}

describe('a batch that two runners validate', () => {
  it('keeps its copy of the input when the second one dies', async () => {
    const { parts, found, textOf } = await open();
    const late = lateRunner(parts, () => Promise.reject(storeUnavailable('it dies')));
    const second = validateBatch(late.parts, { batch: id });
    const ended = expect(second).rejects.toMatchObject({ code: 'store_unavailable' });
    await late.arrived;
    await validateBatch(parts, { batch: id });
    late.wake();
    await ended;
    const { state, input: copy = '' } = await found();
    expect(state).toBe('running');
    expect(await textOf(copy)).toBe(input);
  });

  it('keeps one copy of the input, in which the second one changes nothing', async () => {
    const { parts, work, store, found, textOf } = await open();
    let meanwhile: string | undefined;
    const late = lateRunner(parts, async (put) => {
      meanwhile = await textOf((await found()).input ?? '');
      return put();
    });
    const second = validateBatch(late.parts, { batch: id });
    await late.arrived;
    await validateBatch(parts, { batch: id });
    late.wake();
    await second;
    expect(meanwhile).toBe(input);
    const { input: copy = '' } = await found();
    expect(await textOf(copy)).toBe(input);
    const others = (await work.objects(id)).filter((name) => name !== copy);
    expect(others).toHaveLength(1);
    for (const name of others) expect(await read(store, name)).toBeUndefined();
  });
});

describe('a slice', () => {
  it('does not end without a result that cannot be read', async () => {
    const { parts, work, ledger, found } = await open();
    await validateBatch(parts, { batch: id });
    const sealer = keys.storeSealer(owner) as Sealer;
    const record = (line: number, by: Sealer): Promise<boolean> => {
      const result: LineResult = { outcome: 'succeeded', text: `{"line":${line}}` };
      return work.recordLine({ id, slice: 0, line }, result, noUse, ledger.entryOf([]), by);
    };
    await record(0, sealer);
    await record(1, keys.storeSealer('bob') as Sealer);
    const batch = await found();
    const formats = formatsOf(batch, clientFormats) as BatchFormats;
    const slice = { from: 0, to: input.length, lines: 2 };
    const end = endSlice(parts, { batch, formats, number: 0, slice, sealer }, () => undefined);
    await expect(end).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await work.resultsOf(id, 0)).toBeUndefined();
    expect(await found()).toMatchObject({ state: 'running', slicesLeft: 1 });
  });
});

describe('a batch whose input is lost', () => {
  it('fails once it is cancelled, because nobody can say what its lines were', async () => {
    const { parts, store, batches, ledger, found } = await open();
    await validateBatch(parts, { batch: id });
    await store.delete((await found()).input ?? '');
    // No line of it is run.
    const unused = {} as Pick<RunSliceParts, 'lines' | 'identities'>;
    const stopping = new AbortController().signal;
    const idle = { slots: { hasRoom: () => false }, waitingWork: { note: () => undefined }, atOnce: 8 };
    const held = new HeldBatches({ ...parts, ...idle });
    onTestFinished(() => held.close());
    const runner = { ...parts, ...unused, held, ledger, ownerKeys: keys, stopping, countLine: () => undefined };
    const run = () => runSlice(runner, { batch: id, slice: 0 });
    await expect(run()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await found()).toMatchObject({ state: 'running' });
    await batches.cancel(id);
    await run();
    await finishBatch(parts, { batch: id });
    expect(await found()).toMatchObject({ state: 'failed', problems: [{ code: 'not_found' }], cancelled: 0 });
    expect(await parts.work.open()).toEqual([]);
  });
});

describe('the files of a batch', () => {
  /** A batch whose slice is over, with an answer and an error. */
  async function finishing() {
    const opened = await open();
    const { parts, store, work, files } = opened;
    await validateBatch(parts, { batch: id });
    for (const name of ['answers', 'failures']) {
      await work.noteObject(id, name);
      await store.put(name, inPieces(Buffer.from(`{"of":"${name}"}\n`)));
    }
    const results = { output: 'answers', errors: 'failures' };
    await work.endSlice({ id, slice: 0 }, { recorded: 0, cancelled: 0, expired: 0 }, results);
    const made = async (): Promise<string[]> => {
      const page = await files.list(owner, { purpose: 'batch_output', newestFirst: false, limit: 10 });
      return page?.files.map(({ id: file }) => file) ?? [];
    };
    return { ...opened, made };
  }

  it('are made all or none', async () => {
    const { parts, files, found, made } = await finishing();
    const add: Files['add'] = (of, body, description) =>
      description.name.endsWith('_errors.jsonl')
        ? Promise.reject(storeUnavailable('away'))
        : files.add(of, body, description);
    const halfAway: BatchParts['files'] = {
      add,
      find: (...args) => files.find(...args),
      read: (...args) => files.read(...args),
      remove: (...args) => files.remove(...args),
    };
    const finish = finishBatch({ ...parts, files: halfAway }, { batch: id });
    await expect(finish).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await made()).toEqual([]);
    await finishBatch(parts, { batch: id });
    const { state, outputFile, errorFile } = await found();
    expect(state).toBe('ended');
    expect((await made()).toSorted()).toEqual([outputFile ?? '', errorFile ?? ''].toSorted());
  });

  it('are made once, although two runners make them', async () => {
    const { parts, work, found, made } = await finishing();
    expect(await work.objects(id)).toHaveLength(3);
    // The one that comes second may find that the results of slices are removed.
    await Promise.allSettled([finishBatch(parts, { batch: id }), finishBatch(parts, { batch: id })]);
    expect([await work.objects(id), await work.open()]).toEqual([[], []]);
    const { state, outputFile, errorFile } = await found();
    expect(state).toBe('ended');
    expect((await made()).toSorted()).toEqual([outputFile ?? '', errorFile ?? ''].toSorted());
  });

  it('are not made for an owner who is gone, and the batch ends', async () => {
    const { parts, removeOwner, work, found, made } = await finishing();
    await removeOwner();
    await finishBatch(parts, { batch: id });
    const { state, outputFile, errorFile } = await found();
    expect({ state, outputFile, errorFile }).toEqual({ state: 'ended', outputFile: undefined, errorFile: undefined });
    expect(await made()).toEqual([]);
    expect(await work.open()).toEqual([]);
  });

  it('are not joined by a second job while the first one is under way, only when it is lost or waits for slices', async () => {
    const { parts, work } = await finishing();
    const { jobs } = parts;
    const repair = new BatchRepair(parts);
    onTestFinished(() => repair.close());
    const endings = async (): Promise<number> => {
      await repair.look();
      await repair.look();
      return (await jobs.counts())['batch-endings'].waiting;
    };
    await work.move(id, { from: 'running', to: 'finishing', timed: 'finishingAt' });
    await jobs.remove(endingJob(id));
    await jobs.add(endingJob(id));
    expect(await endings()).toBe(1);
    await jobs.remove(endingJob(id));
    expect(await endings()).toBe(1);
    await jobs.remove(endingJob(id, true));
    await jobs.addAfter(endingJob(id), [sliceJob(id, 7, 1)]);
    expect(await endings()).toBe(1);
  });
});
