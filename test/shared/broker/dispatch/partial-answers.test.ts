import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Attempt } from '#shared/broker/dispatch/attempt.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import { PartialAnswers } from '#shared/broker/dispatch/partial-answers.ts';
import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { until } from '../../../helpers/until.ts';

const mebibyte = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** A job with an attempt: what is kept of its answer. */
const startJob = (): Job => ({ attempt: new Attempt({} as LiveWorker, {} as Placement, false) }) as Partial<Job> as Job;

describe('answers that are not streamed', () => {
  it('are refused beyond 64 MiB each', () => {
    const answers = new PartialAnswers<Job>(0);
    const job = startJob();
    const part = Buffer.alloc(mebibyte);
    const refused = Array.from({ length: 65 }, () => answers.keep(job, part));
    expect(refused.findIndex((each) => each !== undefined)).toBe(63);
  });

  it('are bounded in sum: the largest ends, and its room is free again', () => {
    const answers = new PartialAnswers<Job>(80 * mebibyte);
    const [large, small] = [startJob(), startJob()];
    for (let part = 0; part < 8; part += 1) expect(answers.keep(large, Buffer.alloc(mebibyte))).toBeUndefined();
    expect(answers.keep(small, Buffer.alloc(2 * mebibyte))).toBe(large);
    large.attempt?.partialAnswer?.release();
    expect(answers.keep(small, Buffer.alloc(mebibyte))).toBeUndefined();
  });

  it('do not keep the read buffer of which a small part is a view', async () => {
    const answers = new PartialAnswers<Job>(0);
    const job = startJob();
    collect();
    const before = process.memoryUsage().arrayBuffers;
    for (let at = 0; at < 100; at += 1) answers.keep(job, Buffer.alloc(mebibyte, 'x').subarray(0, 1));
    // Memory of collected buffers is freed in the background.
    await until(() => {
      collect();
      return process.memoryUsage().arrayBuffers - before < 20 * mebibyte;
    });
    expect(job.attempt?.partialAnswer?.join(Buffer.from('.')).toString()).toBe(`${'x'.repeat(100)}.`);
  });
});
