import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { RefusedLines } from '#services/batch-runner/lines/refused-lines.ts';
import { runLine, type RunLineParts } from '#services/batch-runner/lines/run-line.ts';
import type { LineRequest } from '#services/batch-runner/lines/try-line.ts';
import { AnswerBudget } from '#services/batch-runner/answer-memory.ts';
import { RequestBudget } from '#services/batch-runner/request-memory.ts';
import { LineSlots } from '#services/batch-runner/slots/line-slots.ts';
import { ModelBreakers } from '#services/batch-runner/slots/model-breakers.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { RouterError, ShortOfMemoryError } from '#shared/core/errors.ts';
import type { HostedRequest } from '#shared/formats/hosted/hosted-request.ts';
import { encodeToolEvent } from '#shared/formats/tools/tool-result.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { jobDone } from '../../../helpers/broker/job-done.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';
import { identityOf, servingParts } from '../../../helpers/serving/serving-parts.ts';
import { until } from '../../../helpers/until.ts';
import { hostedCall, servedTool } from '../../../helpers/serving/hosted-call.ts';
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

interface Run {
  formatName?: string;
  /** Hosted tools of the request. Default: none. */
  hosted?: HostedRequest;
  answerBudget?: AnswerBudget;
  /** Default: the key has no limits. */
  limits?: ServingComponents['limits'];
}

/**
 * Runs a line whose worker answers with these texts or errors, each time with the next one. The line is stopped when it begins to wait for
 * another try.
 */
async function runWith(answers: readonly (string | RouterError)[], { formatName = 'chat', hosted, ...run }: Run = {}) {
  const waiting = [...answers];
  const calls = { model: 0, tool: 0 };
  const dispatch: ServingComponents['dispatcher']['dispatch'] = ({ operation }, _body, sink) => {
    const isTool = operation === 'execute_tool';
    calls[isTool ? 'tool' : 'model'] += 1;
    const result = { tool: servedTool.name, is_error: false, content: [] };
    const answer = isTool ? encodeToolEvent({ result }) : (waiting.shift() ?? '{}');
    const error = answer instanceof RouterError ? answer : undefined;
    if (error) sink.fail(error);
    else sink.end(Buffer.from(answer.toString()));
    const times = { queuedAt: 0, claimedAt: 0, firstByteAt: 0, endedAt: 0 };
    const state = error ? 'failed' : 'completed';
    const report = { state, attempts: 1, moves: [], continuations: [], timeline: [], ...times, end: jobDone, error };
    return { finished: Promise.resolve(report as unknown as JobReport) } as unknown as Job;
  };
  const pools = [
    livePool({ tier: 'gpu', pool: 'g', formats: [formatName], models: [{ id: 'm', capabilities: [] }] }, [
      { id: 'g1' },
    ]),
    livePool({ tier: 'tools', pool: 't', tools: [servedTool] }, [{ id: 't1' }]),
  ];
  const { answerBudget = new AnswerBudget(64 * mebibyte), limits } = run;
  const serving = servingParts(dispatch, pools, limits && { limits });
  const format = clientFormats.find(({ name }) => name === formatName);
  const breakers = new ModelBreakers();
  const parts = {
    ...serving,
    slots: new LineSlots({ dispatcher: serving.dispatcher, maxLines: 1, yieldMs: 0 }),
    breakers,
    refusedLines: new RefusedLines(),
    waitingWork: { setTiers: () => undefined },
    requestBudget: new RequestBudget(Infinity),
    answerBudget,
    maxTries: 3,
    log: silentLog,
  };
  const stop = new AbortController();
  const line = {
    onPlaced: () => undefined,
    onRun: () => undefined,
    onWait: (place) => {
      if (!place || place().limit) stop.abort();
    },
    onGoOn: () => undefined,
    requestId: 'batch_1_0_0',
    place: { id: 'batch_1', slice: 0, line: 0 },
    format: format && { ...format, read: (...from) => ({ ...format.read(...from), hosted }) },
    operation: 'generate',
    identity: identityOf(limits && { limits: [{}] as unknown as KeyIdentity['limits'] }),
    body: Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] })),
    heavyTask: { begin: () => Promise.resolve(undefined), end: () => undefined },
    reservedBytes: 0,
    knownModel: 'm',
  } as Partial<LineRequest> as LineRequest;
  const { signal } = new AbortController();
  const end = await runLine(parts as unknown as RunLineParts, line, { waiting: stop.signal, running: signal });
  return { end, answerBudget, calls, isRefused: breakers.findLimit('m') !== undefined };
}

it.each(['chat', 'messages'])(
  'an answer in the format %s that is no JSON object is an error of its try',
  async (formatName) => {
    for (const text of ['', 'Hello.', '[]', '{"a":1}\n{"custom_id":"other"}', '{"a":1'])
      expect(await runWith([text], { formatName })).toMatchObject({ end: { kind: 'stopped' }, calls: { model: 1 } });
    const { end } = await runWith(['{"a": 1}'], { formatName });
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

it('an answer that is larger than its share of the memory is an error of the line, which is not tried again', async () => {
  const { end, calls } = await runWith([JSON.stringify({ picture: 'a'.repeat(32 * mebibyte) })]);
  expect(end).toMatchObject({ kind: 'over', answer: { error: { code: 'request_exceeds_limit' } } });
  expect(calls.model).toBe(1);
});

it('an answer that finds no memory waits for others to be recorded, and is not made again', async () => {
  const answerBudget = new AnswerBudget(mebibyte);
  answerBudget.take(mebibyte);
  const running = runWith([JSON.stringify({ picture: 'a'.repeat(100_000) })], { answerBudget });
  // Nothing may be taken while the answer waits.
  await until(() => {
    answerBudget.release(1);
    return !answerBudget.take(1);
  });
  answerBudget.release(mebibyte - 1);
  expect(await running).toMatchObject({
    end: { kind: 'over', answer: { text: expect.any(String) } },
    calls: { model: 1 },
  });
});

it.each([
  ['a refusal of its upstream', true, new RouterError('overloaded', 'Overloaded')],
  ["a lack of this process's memory", false, new ShortOfMemoryError('No room.', 1)],
] as const)('the circuit breaker of a model opens after %s: %s', async (_name, isOpen, error) => {
  const { end, isRefused, calls } = await runWith([error]);
  expect({ kind: end.kind, isRefused, tries: calls.model }).toEqual({ kind: 'stopped', isRefused: isOpen, tries: 1 });
});

it('the limits of a key that end an answer with hosted tools do not open the circuit breaker of the model', async () => {
  let reservations = 0;
  const reservation = { commit: () => undefined, release: () => undefined };
  const error = new RouterError('rate_limit_exceeded', 'The key has used up its requests.');
  const limits: ServingComponents['limits'] = {
    reserve: () => {
      reservations += 1;
      return Promise.resolve(
        reservations <= 2 ? { granted: true, reservation, uses: [] } : { granted: false, error, uses: [] },
      );
    },
  };
  const { end, calls, isRefused } = await runWith([], { hosted: hostedCall('mcp'), limits });
  expect(end).toMatchObject({ kind: 'over', answer: { error: { code: 'rate_limit_exceeded', hadEffects: true } } });
  expect({ calls, isRefused }).toEqual({ calls: { model: 1, tool: 1 }, isRefused: false });
});

it('a line that has called a tool with effects is not tried again if its answer finds no memory', async () => {
  const answerBudget = new AnswerBudget(mebibyte);
  answerBudget.take(mebibyte);
  const { signal } = new AbortController();
  const other = answerBudget.takeInTurn(mebibyte / 2, signal);
  const hosted = hostedCall('mcp', { text: 'a'.repeat(100_000) });
  const { end, calls } = await runWith([], { hosted, answerBudget });
  expect(end).toMatchObject({ kind: 'over', answer: { error: { code: 'overloaded', hadEffects: true } } });
  expect(calls).toEqual({ model: 2, tool: 1 });
  answerBudget.release(mebibyte);
  expect(await other).toBe(true);
});
