import { expect, it } from 'vitest';
import type { RunLineParts } from '#services/batch-runner/lines/run-line.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import { RouterError } from '#shared/core/errors.ts';
import { openaiBatches } from '#shared/formats/batches/openai-batches.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { openBatch } from '../../../helpers/batches/open-batch.ts';

/** Formats that accept none of the lines. */
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

async function validated() {
  const opened = await openBatch();
  const { found, validate, finish, run, read } = opened;
  await validate();
  // Only the bodies are used: no line is run.
  const lines = { bodies: new MemoryBudget(1), answerRoom: new MemoryBudget(1) } as RunLineParts;
  const other = { lines, formats: stricter, maxLineBytes: 10 };
  const errors = async (): Promise<unknown[]> => {
    await finish();
    const lines = (await read((await found()).errorFile))?.trimEnd().split('\n') ?? [];
    return lines.map((line) => (JSON.parse(line) as { custom_id: unknown }).custom_id);
  };
  return { ...opened, runOther: () => run(other), errors };
}

it('a line that can no longer be read gets an error as its result, and its batch ends', async () => {
  const { runOther, found, errors } = await validated();
  await runOther();
  expect(await found()).toMatchObject({ slicesLeft: 0, errored: 2 });
  expect(await errors()).toEqual(['a', 'b']);
});

it('a line that can no longer be read counts as not run when its batch is cancelled', async () => {
  const { id, runOther, batches, found, errors } = await validated();
  await batches.cancel(id);
  await runOther();
  expect(await found()).toMatchObject({ slicesLeft: 0, cancelled: 2 });
  expect(await errors()).toEqual(['a', 'b']);
});
