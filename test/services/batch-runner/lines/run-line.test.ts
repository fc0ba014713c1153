import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { RefusedLines } from '#services/batch-runner/lines/refused-lines.ts';
import { runLine, type LineRequest, type RunLineParts } from '#services/batch-runner/lines/run-line.ts';
import { RequestBudget } from '#services/batch-runner/request-memory.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';

it('an internal error in a line is logged with its place, and hidden from the client', async () => {
  const lines = new PassThrough();
  const log = pino(lines);
  const parts = { refusedLines: new RefusedLines(), requestBudget: new RequestBudget(1_000), maxTries: 1, log };
  const read = (): never => {
    throw new TypeError('there is no such method');
  };
  const format = { ...clientFormats[0], read };
  const nothing = (): void => undefined;
  const listeners = { onPlaced: nothing, onRun: nothing, onWait: nothing, onGoOn: nothing };
  const line = {
    ...listeners,
    requestId: 'batch_1_0_7',
    place: { id: 'batch_1', slice: 0, line: 7 },
    format,
    operation: 'generate',
    identity: { owner: { kind: 'user', id: 'ada' } },
    body: Buffer.from('{"prompt":"Tell nobody."}'),
  } as unknown as LineRequest;
  const { signal } = new AbortController();
  const end = await runLine(parts as unknown as RunLineParts, line, { waiting: signal, running: signal });
  expect(end).toMatchObject({ kind: 'over', answer: { error: { code: 'internal', message: 'The router failed.' } } });
  const logged = String(lines.read());
  expect(JSON.parse(logged)).toMatchObject({ batch: 'batch_1', slice: 0, line: 7, err: { type: 'TypeError' } });
  expect(logged).not.toContain('Tell nobody');
});
