import { expect, it } from 'vitest';
import type { RunLineParts } from '#services/batch-runner/lines/run-line.ts';
import { heavyBytes } from '#services/batch-runner/heavy-work.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import { UnfinishedWork } from '#shared/accounts/redis/unfinished-work.ts';
import { chatLine } from '../../../helpers/batches/batch-clients.ts';
import { openBatch } from '../../../helpers/batches/open-batch.ts';

const deadly = JSON.stringify(chatLine('deadly', 'x'.repeat(heavyBytes)));
const input = `${deadly}\n${JSON.stringify(chatLine('other', 'Hi.'))}\n`;

/** Opens a batch with a large line, and runners that were killed while they processed it. */
async function open() {
  const opened = await openBatch({ input });
  const { redis, prefix, run, finish, found, read } = opened;
  // No other line is run.
  const lines = { bodies: new MemoryBudget(1), answerRoom: new MemoryBudget(1) } as RunLineParts;
  return {
    ...opened,
    kill: async (work: string): Promise<void> => {
      for (const runner of ['first', 'second']) await new UnfinishedWork(redis, prefix, runner).begin(work);
    },
    runLines: () => run({ lines }),
    end: async () => {
      await finish();
      const { outputFile, errorFile } = await found();
      const linesOf = async (file?: string): Promise<unknown[]> =>
        ((await read(file)) ?? '').split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as unknown]));
      return { output: await linesOf(outputFile), errors: await linesOf(errorFile) };
    },
  };
}

const error = {
  custom_id: 'deadly',
  response: { status_code: 422, body: { error: { code: 'workers_died' } } },
};

it('a large line that two runners died with gets an error for its owner, and its batch ends', async () => {
  const { id, validate, record, kill, runLines, end, found } = await open();
  await validate();
  await record(1, '{"custom_id":"other"}');
  await kill(`${id}:1`);
  await runLines();
  expect(await found()).toMatchObject({ slicesLeft: 0, succeeded: 1, errored: 1 });
  expect(await end()).toMatchObject({ output: [{ custom_id: 'other' }], errors: [error] });
});

it('a large line that two runners died with counts as not run when its batch is cancelled', async () => {
  const { id, validate, kill, batches, runLines, end } = await open();
  await validate();
  await kill(`${id}:1`);
  await batches.cancel(id);
  await runLines();
  const cancelled = { error: { code: 'batch_cancelled' } };
  expect((await end()).errors).toMatchObject(['deadly', 'other'].map((name) => ({ custom_id: name, ...cancelled })));
});

it('a large line that two runners died with during validation fails its batch with the number of the line', async () => {
  const { id, validate, kill, found } = await open();
  await kill(`${id}:1`);
  await validate();
  expect(await found()).toMatchObject({ state: 'failed', problems: [{ code: 'workers_died', line: 1 }] });
});
