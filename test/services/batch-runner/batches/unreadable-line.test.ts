import { expect, it } from 'vitest';
import { finishBatch } from '#services/batch-runner/batches/finish-batch.ts';
import { runSlice, type RunSliceParts } from '#services/batch-runner/batches/run-slice.ts';
import { validateBatch } from '#services/batch-runner/batches/validate-batch.ts';
import type { RunLineParts } from '#services/batch-runner/lines/run-line.ts';
import { MemoryBudget } from '#services/batch-runner/memory-budget.ts';
import { RouterError } from '#shared/core/errors.ts';
import { openaiBatches } from '#shared/formats/batches/openai-batches.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { openBatch } from '../../../helpers/batches/open-batch.ts';
import { allOf } from '../../../helpers/files/bytes.ts';

/** The formats of a release that takes none of the lines. */
const stricter: ClientFormat[] = clientFormats.map((format) => ({
  ...format,
  api: {
    ...format.api,
    batches: {
      ...openaiBatches,
      readLine: () => {
        throw new RouterError('invalid_request', 'This release reads no such line.');
      },
    },
  },
}));

/** A batch that was validated, and a runner of another release. */
async function validated() {
  const opened = await openBatch();
  const { id, owner, parts, runner, files, found } = opened;
  await validateBatch(parts, { batch: id });
  // Nothing else of it is used: no line is run.
  const lines = { bodies: new MemoryBudget(1), answerRoom: new MemoryBudget(1) } as RunLineParts;
  const other: RunSliceParts = { ...runner, lines, formats: stricter, maxLineBytes: 10 };
  const errors = async (): Promise<Record<string, unknown>[]> => {
    await finishBatch(parts, { batch: id });
    const file = await files.find(owner, (await found()).errorFile ?? '');
    const text = file ? (await allOf(await files.read(file)))?.toString() : undefined;
    if (text === undefined) return [];
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
  };
  return { ...opened, other, errors };
}

it('a line that cannot be read any more has an error for its result, and its batch ends', async () => {
  const { id, other, found, errors } = await validated();
  await runSlice(other, { batch: id, slice: 0 });
  expect(await found()).toMatchObject({ slicesLeft: 0, errored: 2 });
  expect((await errors()).map(({ custom_id: custom }) => custom)).toEqual(['a', 'b']);
});

it('a line that cannot be read any more is among those that were not run when its batch is cancelled', async () => {
  const { id, other, batches, found, errors } = await validated();
  await batches.cancel(id);
  await runSlice(other, { batch: id, slice: 0 });
  expect(await found()).toMatchObject({ slicesLeft: 0, cancelled: 2 });
  expect((await errors()).map(({ custom_id: custom }) => custom)).toEqual(['a', 'b']);
});
