import { describe, expect, it } from 'vitest';
import type { BatchDependencies } from '#services/batch-runner/batches/batch-dependencies.ts';
import { endSlice as endSliceOf } from '#services/batch-runner/batches/end-slice.ts';
import { failBatch, validateBatch } from '#services/batch-runner/batches/validate-batch.ts';
import { finishBatch } from '#services/batch-runner/batches/finish-batch.ts';
import { repairBatches } from '#services/batch-runner/batches/repair-batches.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { createEndingJob, createSliceJob } from '#shared/background/batch-jobs.ts';
import { findBatchFormats, type BatchFormats } from '#shared/formats/batches/find-batch-formats.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { batchInput, openBatch, openRunningBatch } from '../../../helpers/batches/open-batch.ts';
import { until } from '../../../helpers/until.ts';

it('a batch that two runners validate begins once, holds its input once, and releases it', async () => {
  const { id, parts, found, files, owner, inputFile, counted, textOf, messages, ...opened } = await openBatch();
  const { validate, fail, finish } = opened;
  const arrived = Promise.withResolvers<void>();
  const wake = Promise.withResolvers<void>();
  const get: BatchDependencies['objects']['get'] = async (...args) => {
    arrived.resolve();
    await wake.promise;
    return parts.objects.get(...args);
  };
  const second = validateBatch({ ...parts, objects: { get } }, { batch: id });
  await arrived.promise;
  await validate();
  await files.delete(owner, inputFile);
  wake.resolve();
  await second;
  const { state, input = '' } = await found();
  expect([state, await textOf(input), await counted()]).toEqual(['running', batchInput, batchInput.length]);
  await fail();
  await finish();
  expect([await counted(), await messages()]).toEqual([0, 0]);
});

it('a batch that has begun is not failed by a runner that still validates it', async () => {
  const { id, parts, found, validate } = await openBatch();
  await validate();
  const [jobs, lines]: [unknown[], string[]] = [[], []];
  const add = async (job: unknown) => void jobs.push(job);
  const log = { info: (_facts: object, line: string) => void lines.push(line) } as BatchDependencies['log'];
  const problem = { code: 'not_found', message: 'The input is gone.' };
  await failBatch({ ...parts, jobs: { add } as BatchDependencies['jobs'], log }, { id, state: 'validating' }, [
    problem,
  ]);
  expect([(await found()).state, jobs, lines]).toEqual(['running', [], []]);
});

it('a batch that is removed before its ending job runs leaves nothing', async () => {
  const { id, work, batches, files, owner, inputFile, validate, fail, finish, counted, messages } = await openBatch();
  await validate();
  await files.delete(owner, inputFile);
  await fail();
  expect(await batches.delete(id)).toBe(true);
  expect(await work.listOrphans(5)).toEqual([id]);
  await finish();
  expect([await work.listOrphans(5), await counted(), await messages()]).toEqual([[], 0, 0]);
});

it('a slice does not end without a result that cannot be read', async () => {
  const { id, keys, sealer, parts, work, found, record } = await openRunningBatch();
  await record(0, '{"line":0}');
  await record(1, '{"line":1}', keys.storeSealer('bob'));
  const batch = await found();
  const formats = findBatchFormats(batch, clientFormats) as BatchFormats;
  const slice = { from: 0, to: batchInput.length, lines: 2, first: 1 };
  const end = endSliceOf(parts, { batch, formats, number: 0, slice, sealer }, () => undefined);
  await expect(end).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(await work.readSliceResults(id, 0)).toBeUndefined();
  expect(await found()).toMatchObject({ state: 'running', slicesLeft: 1 });
});

it('a batch whose input is lost ends once it is cancelled, with the results so far and a problem about the missing ones', async () => {
  const { id, parts, store, batches, found, finish, run, record, read } = await openRunningBatch();
  await record(1, '{"line":1}');
  await store.delete((await found()).input ?? '');
  await expect(run()).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(await found()).toMatchObject({ state: 'running' });
  await batches.cancel(id);
  await run();
  await finish();
  const { outputFile = '', ...batch } = await found();
  expect(batch).toMatchObject({ state: 'ended', problems: [{ code: 'not_found' }], succeeded: 1, cancelled: 1 });
  expect(batch.errorFile).toBeUndefined();
  expect(await read(outputFile)).toBe('{"line":1}\n');
  expect(await parts.batches.listOpen()).toEqual([]);
});

it('a batch that is to stop fails with a problem if its input is lost, while a running batch is tried again', async () => {
  const { id, work, store, batches, found, validate, finish } = await openBatch();
  await store.delete((await work.holdInput(id)) ?? '');
  await expect(validate()).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(await found()).toMatchObject({ state: 'validating' });
  await batches.cancel(id);
  await validate();
  await finish();
  expect(await found()).toMatchObject({ state: 'failed', problems: [{ code: 'not_found' }] });
  expect(await work.listOpen()).toEqual([]);
});

it.each(['one', 'all'])(
  'a batch that is to stop ends with the rest and a problem if results are lost: %s',
  async (lost) => {
    const { id, work, store, batches, found, finish, endSlice } = await openRunningBatch();
    const results = await endSlice();
    await store.delete(results.errors.object);
    if (lost === 'all') await store.delete(results.output.object);
    await expect(finish()).rejects.toMatchObject({ code: 'store_unavailable' });
    await batches.cancel(id);
    await finish();
    const { outputFile, errorFile, ...batch } = await found();
    expect(batch).toMatchObject({ state: 'ended', problems: [{ code: 'not_found' }] });
    expect([outputFile !== undefined, errorFile]).toEqual([lost === 'one', undefined]);
    expect(await work.listOpen()).toEqual([]);
  },
);

describe('the files of a batch', () => {
  /** Creates a batch whose slice is over, with an answer and an error. */
  async function finishing() {
    const opened = await openRunningBatch();
    const { owner, files, found, endSlice } = opened;
    await endSlice();
    const made = async (): Promise<string[]> => {
      const page = await files.list(owner, { purpose: 'batch_output', newestFirst: false, limit: 10 });
      return page?.files.map(({ id: file }) => file) ?? [];
    };
    /** Expects that the batch has ended with both files. */
    const expectMade = async () => {
      const { state, outputFile = '', errorFile = '' } = await found();
      expect(state).toBe('ended');
      expect((await made()).toSorted()).toEqual([outputFile, errorFile].toSorted());
      return [outputFile, errorFile];
    };
    return { ...opened, made, expectMade };
  }

  it('are created all or none', async () => {
    const { id, parts, files, made, expectMade, finish } = await finishing();
    let received = 0;
    const halfAway: BatchDependencies['files'] = {
      receive: (...args) => {
        received += 1;
        return received === 2 ? Promise.reject(createStoreUnavailableError('away')) : files.receive(...args);
      },
      delete: (...args) => files.delete(...args),
      removeReleased: (...args) => files.removeReleased(...args),
      assertRoom: (...args) => files.assertRoom(...args),
    };
    const half = finishBatch({ ...parts, files: halfAway }, { batch: id });
    await expect(half).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await made()).toEqual([]);
    await finish();
    await expectMade();
  });

  it('are created together with the end of the batch: a runner that dies before creates none', async () => {
    const { id, parts, work, files, owner, redis, prefix, counted, made, messages, finish } = await finishing();
    const before = [await counted(), await messages()];
    const gone = Promise.withResolvers<never>();
    const reached = Promise.withResolvers<void>();
    const dying = Object.create(work) as BatchDependencies['batches'];
    dying.find = (name) => work.find(name);
    dying.readSliceResults = (...place) => work.readSliceResults(...place);
    dying.move = (name, move) => {
      if (move.to !== 'ended') return work.move(name, move);
      reached.resolve();
      return gone.promise;
    };
    void finishBatch({ ...parts, batches: dying }, { batch: id }).catch(() => undefined);
    await reached.promise;
    expect(await made()).toEqual([]);
    // The leases of its uploads run out.
    for (const object of await redis.hkeys(`${prefix}file-uploads`))
      await redis.zadd(`${prefix}file-removals`, 1, object);
    await files.sweep();
    expect([await counted(), await messages()]).toEqual(before);
    await finish();
    expect((await made()).length).toBe(2);
    expect((await files.list(owner, { newestFirst: true, limit: 10 }))?.files.length).toBe(3);
  });

  it('are created once, although two runners create them', async () => {
    const { work, expectMade, files, owner, inputFile, counted, messages, finish } = await finishing();
    // The second one may find that the results of slices are removed.
    await Promise.allSettled([finish(), finish()]);
    expect(await work.listOpen()).toEqual([]);
    for (const file of [inputFile, ...(await expectMade())]) await files.delete(owner, file);
    await until(async () => (await messages()) === 0);
    expect(await counted()).toBe(0);
  });

  it('are not created for an owner who is gone, and the batch ends', async () => {
    const { removeOwner, work, found, made, finish } = await finishing();
    await removeOwner();
    await finish();
    const { state, outputFile, errorFile } = await found();
    expect({ state, outputFile, errorFile }).toEqual({ state: 'ended', outputFile: undefined, errorFile: undefined });
    expect(await made()).toEqual([]);
    expect(await work.listOpen()).toEqual([]);
  });

  it('are joined by a second job only when the first one is lost or waits for slices', async () => {
    const { id, parts, work } = await finishing();
    const { jobs } = parts;
    const endings = async (): Promise<number> => {
      await repairBatches(parts, Date.now() + 15_000);
      return (await jobs.countAll())['batch-endings'].waiting;
    };
    await work.move(id, { from: 'running', to: 'finishing', timed: 'finishingAt' });
    await jobs.remove(createEndingJob(id));
    await jobs.add(createEndingJob(id));
    expect(await endings()).toBe(1);
    await jobs.remove(createEndingJob(id));
    expect(await endings()).toBe(1);
    await jobs.remove(createEndingJob(id, true));
    await jobs.addAfter(createEndingJob(id), [createSliceJob(id, 7, { ofOwner: 1 })]);
    expect(await endings()).toBe(1);
  });
});
