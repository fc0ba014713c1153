import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { RefusedLines } from '#services/batch-runner/lines/refused-lines.ts';
import { runLine, type LineRequest, type RunLineParts } from '#services/batch-runner/lines/run-line.ts';
import { RequestBudget } from '#services/batch-runner/request-memory.ts';
import { LineSlots } from '#services/batch-runner/slots/line-slots.ts';
import { ModelBreakers } from '#services/batch-runner/slots/model-breakers.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { jobDone } from '../../../helpers/broker/job-done.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';
import { identityOf, servingParts } from '../../../helpers/serving/serving-parts.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

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

const mebibyte = 1024 ** 2;

/** Runs a line whose worker answers with these texts, each time with the next one. */
async function runWith(answers: readonly string[], formatName = 'chat') {
  const texts = [...answers];
  const dispatch: ServingComponents['dispatcher']['dispatch'] = (_request, _body, sink) => {
    sink.end(Buffer.from(texts.shift() ?? '{}'));
    const times = { queuedAt: 0, claimedAt: 0, firstByteAt: 0, endedAt: 0 };
    const report = {
      state: 'completed',
      attempts: 1,
      moves: [],
      continuations: [],
      timeline: [],
      ...times,
      end: jobDone,
    };
    return { finished: Promise.resolve(report as unknown as JobReport) } as unknown as Job;
  };
  const pool = livePool({ tier: 'gpu', pool: 'g', formats: [formatName], models: [{ id: 'm', capabilities: [] }] }, [
    { id: 'g1' },
  ]);
  const serving = servingParts(dispatch, [pool]);
  const answerBudget = new MemoryBudget(64 * mebibyte);
  const format = clientFormats.find(({ name }) => name === formatName);
  const parts = {
    ...serving,
    slots: new LineSlots({ dispatcher: serving.dispatcher, maxLines: 1, yieldMs: 0 }),
    breakers: new ModelBreakers(),
    refusedLines: new RefusedLines(),
    waitingWork: { setTiers: () => undefined },
    requestBudget: new RequestBudget(Infinity),
    answerBudget,
    maxTries: answers.length,
    log: silentLog,
  };
  const line = {
    onPlaced: () => undefined,
    onRun: () => undefined,
    onWait: () => undefined,
    onGoOn: () => undefined,
    requestId: 'batch_1_0_0',
    place: { id: 'batch_1', slice: 0, line: 0 },
    format,
    operation: 'generate',
    identity: identityOf(),
    body: Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] })),
    heavyTask: { begin: () => Promise.resolve(undefined), end: () => undefined },
    reservedBytes: 0,
    knownModel: 'm',
  } as unknown as LineRequest;
  const { signal } = new AbortController();
  const end = await runLine(parts as unknown as RunLineParts, line, { waiting: signal, running: signal });
  return { end, answerBudget };
}

it.each(['chat', 'messages'])(
  'an answer in the format %s that is no JSON object is an error of the line',
  async (format) => {
    for (const text of ['', 'Hello.', '[]', '{"a":1}\n{"custom_id":"other"}', '{"a":1']) {
      const { end } = await runWith([text], format);
      expect(end).toMatchObject({ kind: 'over', answer: { error: { code: 'upstream_failed' } } });
    }
    const { end } = await runWith(['Hello.', '{"a": 1}'], format);
    expect(end).toMatchObject({ kind: 'over', answer: { text: '{"a": 1}' } });
  },
);

it('the memory of a large answer is reserved until its line is recorded', async () => {
  const text = JSON.stringify({ picture: 'a'.repeat(32 * mebibyte - 100) });
  const { end, answerBudget } = await runWith([text]);
  expect(end).toMatchObject({ kind: 'over', answer: { text: expect.stringMatching(/^{"picture":"a/) } });
  expect(answerBudget.take(33 * mebibyte)).toBe(false);
  if (end.kind === 'over') end.memory.release();
  expect(answerBudget.take(64 * mebibyte)).toBe(true);
});

it('an answer that is larger than its share of the memory is an error of the line', async () => {
  const { end } = await runWith([JSON.stringify({ picture: 'a'.repeat(32 * mebibyte) })]);
  expect(end).toMatchObject({ kind: 'over', answer: { error: { code: 'upstream_failed' } } });
});
