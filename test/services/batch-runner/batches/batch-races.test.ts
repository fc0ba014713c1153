import { describe, expect, it } from 'vitest';
import type { BatchParts } from '#services/batch-runner/batches/batch-parts.ts';
import { endSlice } from '#services/batch-runner/batches/end-slice.ts';
import { finishBatch } from '#services/batch-runner/batches/finish-batch.ts';
import { repairBatches } from '#services/batch-runner/batches/repair-batches.ts';
import { runSlice } from '#services/batch-runner/batches/run-slice.ts';
import { validateBatch } from '#services/batch-runner/batches/validate-batch.ts';
import { sealResult } from '#shared/accounts/batches/line-result.ts';
import { storeUnavailable } from '#shared/accounts/redis/ask-redis.ts';
import { endingJob, sliceJob } from '#shared/background/batch-jobs.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { formatsOf, type BatchFormats } from '#shared/formats/batches/formats-of.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { batchInput, openBatch } from '../../../helpers/batches/open-batch.ts';
import { allOf, inPieces } from '../../../helpers/files/bytes.ts';
import { until } from '../../../helpers/until.ts';

const noUse = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0, cost: 0 };

describe('a batch that two runners validate', () => {
  it('begins once, holds its input once, and releases it', async () => {
    const { id, parts, found, files, owner, inputFile, counted, textOf, messages } = await openBatch();
    const arrived = Promise.withResolvers<void>();
    const wake = Promise.withResolvers<void>();
    const get: BatchParts['objects']['get'] = async (...args) => {
      arrived.resolve();
      await wake.promise;
      return parts.objects.get(...args);
    };
    const second = validateBatch({ ...parts, objects: { get } }, { batch: id });
    await arrived.promise;
    await validateBatch(parts, { batch: id });
    await files.remove(owner, inputFile);
    wake.resolve();
    await second;
    const { state, input = '' } = await found();
    expect([state, await textOf(input), await counted()]).toEqual(['running', batchInput, batchInput.length]);
    await parts.work.move(id, { from: 'running', to: 'failed', timed: 'failedAt' });
    await finishBatch(parts, { batch: id });
    expect([await counted(), await messages()]).toEqual([0, 0]);
  });
});

describe('a slice', () => {
  it('does not end without a result that cannot be read', async () => {
    const { id, owner, keys, parts, work, ledger, found } = await openBatch();
    await validateBatch(parts, { batch: id });
    const sealer = keys.storeSealer(owner) as Sealer;
    const record = async (line: number, by: Sealer): Promise<boolean> => {
      const result = await sealResult({ outcome: 'succeeded', text: `{"line":${line}}` }, by);
      return work.recordLine({ id, slice: 0, line }, result, noUse, ledger.entryOf([]));
    };
    await record(0, sealer);
    await record(1, keys.storeSealer('bob') as Sealer);
    const batch = await found();
    const formats = formatsOf(batch, clientFormats) as BatchFormats;
    const slice = { from: 0, to: batchInput.length, lines: 2 };
    const end = endSlice(parts, { batch, formats, number: 0, slice, sealer }, () => undefined);
    await expect(end).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await work.resultsOf(id, 0)).toBeUndefined();
    expect(await found()).toMatchObject({ state: 'running', slicesLeft: 1 });
  });
});

describe('a batch whose input is lost', () => {
  it('ends once it is cancelled, with the results of what is done, and says that others are missing', async () => {
    const { id, owner, runner, parts, work, keys, ledger, files, store, batches, found } = await openBatch();
    await validateBatch(parts, { batch: id });
    const result = await sealResult({ outcome: 'succeeded', text: '{"line":1}' }, keys.storeSealer(owner) as Sealer);
    await work.recordLine({ id, slice: 0, line: 1 }, result, noUse, ledger.entryOf([]));
    await store.delete((await found()).input ?? '');
    const run = () => runSlice(runner, { batch: id, slice: 0 });
    await expect(run()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await found()).toMatchObject({ state: 'running' });
    await batches.cancel(id);
    await run();
    await finishBatch(parts, { batch: id });
    const { outputFile = '', ...batch } = await found();
    expect(batch).toMatchObject({ state: 'ended', problems: [{ code: 'not_found' }], succeeded: 1, cancelled: 1 });
    expect(batch.errorFile).toBeUndefined();
    const file = await files.find(owner, outputFile);
    expect(file && (await allOf(await files.read(file)))?.toString()).toBe('{"line":1}\n');
    expect(await parts.work.open()).toEqual([]);
  });
});

describe('what is lost of a batch that is to stop', () => {
  it('is its input: it fails and says so, while others are tried again', async () => {
    const { id, parts, work, store, batches, found } = await openBatch();
    await store.delete((await work.holdInput(id)) ?? '');
    await expect(validateBatch(parts, { batch: id })).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await found()).toMatchObject({ state: 'validating' });
    await batches.cancel(id);
    await validateBatch(parts, { batch: id });
    await finishBatch(parts, { batch: id });
    expect(await found()).toMatchObject({ state: 'failed', problems: [{ code: 'not_found' }] });
    expect(await work.open()).toEqual([]);
  });

  it.each(['one', 'all'])('is %s of its results: it ends with the others, and says so', async (lost) => {
    const { id, owner, parts, work, store, batches, found, files } = await openBatch();
    await validateBatch(parts, { batch: id });
    const receive = (text: string) => files.receive(owner, inPieces(Buffer.from(text)), { isResult: true });
    const results = { output: await receive('{"of":"answers"}\n'), errors: await receive('{"of":"failures"}\n') };
    await work.endSlice({ id, slice: 0 }, { recorded: 0, cancelled: 0, expired: 0 }, results);
    await store.delete(results.errors.object);
    if (lost === 'all') await store.delete(results.output.object);
    await expect(finishBatch(parts, { batch: id })).rejects.toMatchObject({ code: 'store_unavailable' });
    await batches.cancel(id);
    await finishBatch(parts, { batch: id });
    const { outputFile, errorFile, ...batch } = await found();
    expect(batch).toMatchObject({ state: 'ended', problems: [{ code: 'not_found' }] });
    expect([outputFile !== undefined, errorFile]).toEqual([lost === 'one', undefined]);
    expect(await work.open()).toEqual([]);
  });
});

describe('the files of a batch', () => {
  /** A batch whose slice is over, with an answer and an error. */
  async function finishing() {
    const opened = await openBatch();
    const { id, owner, parts, work, files } = opened;
    await validateBatch(parts, { batch: id });
    const receive = (text: string) => files.receive(owner, inPieces(Buffer.from(text)), { isResult: true });
    const results = { output: await receive('{"of":"answers"}\n'), errors: await receive('{"of":"failures"}\n') };
    await work.endSlice({ id, slice: 0 }, { recorded: 0, cancelled: 0, expired: 0 }, results);
    const made = async (): Promise<string[]> => {
      const page = await files.list(owner, { purpose: 'batch_output', newestFirst: false, limit: 10 });
      return page?.files.map(({ id: file }) => file) ?? [];
    };
    return { ...opened, made };
  }

  it('are made all or none', async () => {
    const { id, parts, files, found, made } = await finishing();
    let received = 0;
    const halfAway: BatchParts['files'] = {
      receive: (...args) => {
        received += 1;
        return received === 2 ? Promise.reject(storeUnavailable('away')) : files.receive(...args);
      },
      remove: (...args) => files.remove(...args),
      removeReleased: (...args) => files.removeReleased(...args),
      assertRoom: (...args) => files.assertRoom(...args),
    };
    const finish = finishBatch({ ...parts, files: halfAway }, { batch: id });
    await expect(finish).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await made()).toEqual([]);
    await finishBatch(parts, { batch: id });
    const { state, outputFile, errorFile } = await found();
    expect(state).toBe('ended');
    expect((await made()).toSorted()).toEqual([outputFile ?? '', errorFile ?? ''].toSorted());
  });

  it('are made together with the end of the batch: a runner that dies before has made none', async () => {
    const { id, parts, work, files, owner, redis, prefix, counted, made, messages } = await finishing();
    const before = [await counted(), await messages()];
    const gone = Promise.withResolvers<never>();
    const reached = Promise.withResolvers<void>();
    const dying = Object.create(work) as BatchParts['work'];
    dying.find = (name) => work.find(name);
    dying.resultsOf = (...place) => work.resultsOf(...place);
    dying.move = (name, move) => {
      if (move.to !== 'ended') return work.move(name, move);
      reached.resolve();
      return gone.promise;
    };
    void finishBatch({ ...parts, work: dying }, { batch: id }).catch(() => undefined);
    await reached.promise;
    expect(await made()).toEqual([]);
    // Its uploads lapse.
    for (const object of await redis.hkeys(`${prefix}file-uploads`))
      await redis.zadd(`${prefix}file-removals`, 1, object);
    await files.sweep();
    expect([await counted(), await messages()]).toEqual(before);
    await finishBatch(parts, { batch: id });
    expect((await made()).length).toBe(2);
    expect((await files.list(owner, { newestFirst: true, limit: 10 }))?.files.length).toBe(3);
  });

  it('are made once, although two runners make them', async () => {
    const { id, parts, work, found, made, files, owner, inputFile, counted, messages } = await finishing();
    // The one that comes second may find that the results of slices are removed.
    await Promise.allSettled([finishBatch(parts, { batch: id }), finishBatch(parts, { batch: id })]);
    expect(await work.open()).toEqual([]);
    const { state, outputFile, errorFile } = await found();
    expect(state).toBe('ended');
    expect((await made()).toSorted()).toEqual([outputFile ?? '', errorFile ?? ''].toSorted());
    for (const file of [inputFile, outputFile, errorFile]) await files.remove(owner, file ?? '');
    await until(async () => (await messages()) === 0);
    expect(await counted()).toBe(0);
  });

  it('are not made for an owner who is gone, and the batch ends', async () => {
    const { id, parts, removeOwner, work, found, made } = await finishing();
    await removeOwner();
    await finishBatch(parts, { batch: id });
    const { state, outputFile, errorFile } = await found();
    expect({ state, outputFile, errorFile }).toEqual({ state: 'ended', outputFile: undefined, errorFile: undefined });
    expect(await made()).toEqual([]);
    expect(await work.open()).toEqual([]);
  });

  it('are not joined by a second job while the first one is under way, only when it is lost or waits for slices', async () => {
    const { id, parts, work } = await finishing();
    const { jobs } = parts;
    const endings = async (): Promise<number> => {
      await repairBatches(parts, Date.now() + 15_000);
      return (await jobs.counts())['batch-endings'].waiting;
    };
    await work.move(id, { from: 'running', to: 'finishing', timed: 'finishingAt' });
    await jobs.remove(endingJob(id));
    await jobs.add(endingJob(id));
    expect(await endings()).toBe(1);
    await jobs.remove(endingJob(id));
    expect(await endings()).toBe(1);
    await jobs.remove(endingJob(id, true));
    await jobs.addAfter(endingJob(id), [sliceJob(id, 7, { ofOwner: 1 })]);
    expect(await endings()).toBe(1);
  });
});
