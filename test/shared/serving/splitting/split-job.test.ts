import { describe, expect, it } from 'vitest';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { RouterError } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';
import type { DivisibleRequest } from '#shared/formats/client-format.ts';
import { SplitJob, createSplitDispatcher, computePartSize } from '#shared/serving/splitting/split-job.ts';
import { modelSink } from '../../../helpers/serving/serving-parts.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

/** A dispatched part, which a test serves or fails. */
interface Part {
  from: number;
  to: number;
  models: string[];
  isCancelled: boolean;
  serve(): void;
  fail(error: RouterError): void;
}

const models = [{ id: 'm', capabilities: [], operations: ['embed' as const] }];

/** A pool whose workers have two slots each; running parts count as held by its first worker. */
function start(workers: number, inputs: number, further: Placement[] = []) {
  const ids = Array.from({ length: workers }, (_, at) => ({ id: `w${at}` }));
  const pool = livePool({ tier: 'gpu', pool: 'p', models }, ids);
  const [worker] = pool.workers;
  const placements: Placement[] = [...(worker ? [{ pool, model: 'm' }] : []), ...further];
  const parts: Part[] = [];
  const events: string[] = [];
  const dispatch = (request: JobRequest, body: Buffer, sink: JobSink): Job => {
    const [from = 0, to = 0] = JSON.parse(body.toString()) as number[];
    const { promise: finished, resolve } = Promise.withResolvers<JobReport>();
    const free = [...pool.workers].find(({ ownJobs: held }) => held < 2);
    free?.take('grant', 'm');
    let isOver = false;
    const over = (state: JobReport['state'], fields: Partial<JobReport>): void => {
      isOver = true;
      free?.release('grant', 'm');
      const times = { queuedAt: 1, claimedAt: 2 + from, firstByteAt: 3, endedAt: 4 };
      const attempt = { placement: { pool, model: 'm' } } as unknown as JobReport['attempt'];
      const none = { moves: [], continuations: [], timeline: [], answerBytes: 0, end: undefined, error: undefined };
      resolve({ state, attempts: 1, ...none, ...times, attempt, ...fields });
    };
    const part: Part = {
      from,
      to,
      models: request.findPlacements(noWorkers).map(({ model }) => model),
      isCancelled: false,
      serve: () => {
        sink.end(Buffer.from(JSON.stringify([from, to])));
        over('done', { end: { usage: { ...noUsage, promptTokens: to - from }, finishReason: 'stop' } });
      },
      fail: (error) => {
        over('failed', { error });
        sink.fail(error);
      },
    };
    parts.push(part);
    const cancel = (): void => {
      if (isOver) return;
      part.isCancelled = true;
      over('cancelled', {});
    };
    return { finished, cancel } as unknown as Job;
  };
  const divisible: DivisibleRequest = {
    inputs,
    part: (_, from, to) => Buffer.from(JSON.stringify([from, to])),
    join: (answers, { promptTokens }) => Buffer.from(`${answers.map(String).join('')} ${promptTokens}`),
  };
  const request = { findPlacements: () => placements } as unknown as JobRequest;
  const sink = modelSink({
    begin: () => void events.push('begin'),
    data: () => void events.push('data'),
    end: (bytes) => void events.push(Buffer.from(bytes).toString()),
    fail: ({ code }) => void events.push(code),
  });
  const cancel = (job: Job): void => (job as unknown as { cancel: () => void }).cancel();
  const split = { dispatcher: { dispatch, cancel }, divisible, defaults: {} };
  return { split: new SplitJob(split, request, Buffer.alloc(64), sink), parts, events, pool, placements };
}

/** Serves a part, and lets everything that waits for it continue. */
async function serve(part: Part | undefined): Promise<void> {
  part?.serve();
  await new Promise(setImmediate);
}

describe('a split request', () => {
  it('gives each free slot a part, and further parts as slots become free; the answer is in order', async () => {
    const { split, parts, events } = start(2, 2_000);
    expect(parts.map(({ from, to }) => [from, to])).toEqual([0, 256, 512, 768].map((from) => [from, from + 256]));
    await serve(parts[1]);
    expect(parts.at(-1)).toMatchObject({ from: 1024, to: 1280 });
    for (let at = 0; at < parts.length; at += 1) if (at !== 1) await serve(parts[at]);
    expect(events).toEqual(['begin', `${parts.map(({ from, to }) => `[${from},${to}]`).join('')} 2000`]);
    const end = { usage: { promptTokens: 2_000 } };
    expect(await split.finished).toMatchObject({ state: 'done', attempts: 8, claimedAt: 2, end });
  });

  it('runs at most sixteen parts at once', () => {
    expect(start(40, 100_000).parts).toHaveLength(16);
  });

  it('runs one part at a time while no worker is free', async () => {
    const { parts, pool } = start(1, 1_000);
    expect(parts).toHaveLength(2);
    pool.waiting = 5;
    await serve(parts[0]);
    expect(parts).toHaveLength(2);
    await serve(parts[1]);
    expect(parts).toHaveLength(3);
  });

  it('goes to one model, the first with a free worker', () => {
    const other = livePool({ tier: 'cloud', pool: 'c', models: [{ id: 'n', capabilities: [] }] }, [{ id: 'x' }]);
    const { parts } = start(1, 100, [{ pool: other, model: 'n' }]);
    expect(parts.map((part) => part.models)).toEqual(parts.map(() => ['m']));
  });

  it('determines its model with its first part if there is none yet', async () => {
    const { parts, placements, pool } = start(0, 1_000);
    expect(parts).toHaveLength(1);
    const elsewhere = { pool: { ...pool, tier: 'cloud' } as LivePool, model: 'n' };
    placements.push(elsewhere, { pool, model: 'm' });
    await serve(parts[0]);
    expect(parts[1]?.models).toEqual(['m']);
  });

  it('fails with the first part that fails, and cancels the others', async () => {
    const { split, parts, events } = start(2, 2_000);
    await serve(parts[0]);
    parts[2]?.fail(new RouterError('upstream_failed', 'No.'));
    expect(await split.finished).toMatchObject({ state: 'failed', end: undefined, error: { code: 'upstream_failed' } });
    expect(events).toEqual(['upstream_failed']);
    expect(parts.filter(({ isCancelled }) => isCancelled)).toHaveLength(3);
  });

  it('counts the complete parts if its client leaves', async () => {
    const { split, parts, events } = start(2, 2_000);
    await serve(parts[0]);
    split.cancel();
    expect(await split.finished).toMatchObject({ state: 'cancelled', end: { usage: { promptTokens: 256 } } });
    expect(events).toEqual([]);
  });
});

it('a request is split from 32 inputs on', () => {
  const dispatcher = { dispatch: () => ({}) as Job, cancel: () => undefined };
  const none = () => Buffer.alloc(0);
  const isSplit = (inputs: number) => createSplitDispatcher(dispatcher, { inputs, part: none, join: none }, {});
  expect(createSplitDispatcher(dispatcher, undefined, {})).toBeUndefined();
  expect([isSplit(31), isSplit(32)]).toEqual([undefined, expect.any(Object)]);
});

const kibibyte = 1024;

it.each([
  ['as many as there are free slots', 400, 40 * kibibyte, 8, 50],
  ['of 256 inputs at most', 10_000, 100 * kibibyte, 4, 256],
  ['of 16 inputs at least', 64, 10 * kibibyte, 50, 16],
  ['of 256 KiB at most', 1_000, 8_000 * kibibyte, 2, 32],
  ['of one input, if that is larger', 40, 40_000 * kibibyte, 2, 1],
  ['of 256 inputs, if no worker is free', 10_000, 100 * kibibyte, 0, 256],
])('the parts of a request are %s', (_, inputs, bytes, free, size) => {
  expect(computePartSize(inputs, bytes, free)).toBe(size);
});
