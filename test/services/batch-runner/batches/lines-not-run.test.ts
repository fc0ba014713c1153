import { describe, expect, it } from 'vitest';
import { heavyBytes } from '#services/batch-runner/heavy-work.ts';
import { UnfinishedWork } from '#shared/store/redis/unfinished-work.ts';
import { RouterError } from '#shared/core/errors.ts';
import { openaiBatches } from '#shared/formats/batches/openai-batches.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { chatLine } from '../../../helpers/batches/batch-clients.ts';
import { openBatch, openRunningBatch } from '../../../helpers/batches/open-batch.ts';

describe('a large line that two runners died with', () => {
  const deadly = JSON.stringify(chatLine('deadly', 'x'.repeat(heavyBytes)));
  const input = `${deadly}\n${JSON.stringify(chatLine('other', 'Hi.'))}\n`;

  /** Opens a batch with a large line, and runners that were killed while they processed it. */
  async function open() {
    const opened = await openBatch({ input });
    const { redis, prefix } = opened;
    const kill = async (work: string): Promise<void> => {
      for (const runner of ['first', 'second']) await new UnfinishedWork(redis, prefix, runner).begin(work);
    };
    return { ...opened, kill };
  }

  it('gets an error for its owner, and its batch ends', async () => {
    const { id, validate, record, kill, run, finish, found, readResults } = await open();
    await validate();
    await record(1, '{"custom_id":"other"}');
    await kill(`${id}:1`);
    await run();
    expect(await found()).toMatchObject({ slicesLeft: 0, succeeded: 1, errored: 1 });
    await finish();
    const { outputFile, errorFile } = await found();
    const response = { status_code: 422, body: { error: { code: 'workers_died' } } };
    expect(await readResults(outputFile)).toMatchObject([{ custom_id: 'other' }]);
    expect(await readResults(errorFile)).toMatchObject([{ custom_id: 'deadly', response }]);
  });

  it('counts as not run when its batch is cancelled', async () => {
    const { id, validate, kill, batches, run, finish, found, readResults } = await open();
    await validate();
    await kill(`${id}:1`);
    await batches.cancel(id);
    await run();
    await finish();
    const cancelled = ['deadly', 'other'].map((name) => ({ custom_id: name, error: { code: 'batch_cancelled' } }));
    expect(await readResults((await found()).errorFile)).toMatchObject(cancelled);
  });

  it('during validation fails its batch with the number of the line', async () => {
    const { id, validate, kill, found } = await open();
    await kill(`${id}:1`);
    await validate();
    expect(await found()).toMatchObject({ state: 'failed', problems: [{ code: 'workers_died', line: 1 }] });
  });
});

describe('a line that can no longer be read', () => {
  const readLine = (): never => {
    throw new RouterError('invalid_request', 'This release reads no such line.');
  };
  /** Formats that accept none of the lines. */
  const formats = clientFormats.map((format): ClientFormat => {
    return { ...format, api: { ...format.api, batches: { ...openaiBatches, readLine } } };
  });

  it.each([
    ['gets an error as its result, and its batch ends', false],
    ['counts as not run when its batch is cancelled', true],
  ])('%s', async (_, isCancelled) => {
    const { id, run, finish, batches, found, readResults } = await openRunningBatch();
    if (isCancelled) await batches.cancel(id);
    await run({ formats, maxLineBytes: 10 });
    expect(await found()).toMatchObject({ slicesLeft: 0, [isCancelled ? 'cancelled' : 'errored']: 2 });
    await finish();
    const results = await readResults((await found()).errorFile);
    expect(results.map((result) => result.custom_id)).toEqual(['a', 'b']);
  });
});
