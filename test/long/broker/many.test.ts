import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { it } from '../../helpers/broker/it-with-parties.ts';
import { jobDone } from '../../helpers/broker/job-done.ts';
import { least } from '../../helpers/least.ts';
import { until } from '../../helpers/until.ts';

describe('many at once', () => {
  it('two ingresses and two workers serve every job exactly once', async ({ start }) => {
    const { ingress, addIngress, addWorker } = await start();
    const runs = new Map<string, number>();
    const handler: JobHandler = async ({ id, requestId }, reply) => {
      runs.set(id, (runs.get(id) ?? 0) + 1);
      reply.write(requestId);
      return jobDone;
    };
    const workers = [await addWorker({ slots: 5, handler }), await addWorker({ slots: 5, handler })];
    const other = await addIngress();
    await until(() => workers.every(({ id }) => other.workers.get(id) !== undefined));
    const jobs = Array.from({ length: 1_000 }, (_, at) => {
      const requestId = `request ${at}`;
      return { requestId, ...(at % 2 === 0 ? ingress : other).send({ requestId, stream: at % 3 === 0 }) };
    });
    for (const { finished, requestId } of jobs)
      expect(await finished).toMatchObject({ state: 'done', attempts: 1, text: requestId });
    expect(runs.size).toBe(1_000);
    expect(Math.max(...runs.values())).toBe(1);
    expect([ingress.dispatcher.activeJobs, other.dispatcher.activeJobs]).toEqual([0, 0]);
    for (const pool of [...ingress.workers.pools(), ...other.workers.pools()]) expect(pool.waiting).toBe(0);
    for (const worker of [...ingress.workers.workers(), ...other.workers.workers()]) expect(worker.ownJobs).toBe(0);
  });

  it('large bodies leave the frames of other jobs quick', async ({ start }) => {
    /** The delay of a frame as a share of its bound: of 20 ms for the median, or of 250 ms for the worst, whichever is more. */
    const delay = async (): Promise<number> => {
      const { ingress, addWorker } = await start();
      const late: number[] = [];
      await addWorker({
        slots: 50,
        handler: async ({ body }, reply, signal) => {
          if (body.length > 1_000) return jobDone;
          for (let count = 0; count < 100 && !signal.aborted; count += 1) {
            reply.write(`${performance.now()}\n`);
            await sleep(5);
          }
          return jobDone;
        },
      });
      const data = (bytes: Uint8Array): void => {
        const now = performance.now();
        for (const sentAt of Buffer.from(bytes).toString().trim().split('\n')) late.push(now - Number(sentAt));
      };
      const small = ingress.send({ sink: { data } });
      await until(() => late.length > 10);
      const large = Array.from({ length: 4 }, () => ingress.send({ body: Buffer.alloc(20 * 1024 * 1024, 'x') }));
      for (const { finished } of large) expect((await finished).state).toBe('done');
      await small.finished;
      const sorted = late.toSorted((a, b) => a - b);
      // Ingress, worker and this test share one event loop here, so that the worst is worse than between processes.
      const [median = Infinity, worst = Infinity] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
      return Math.max(median / 20, worst / 250);
    };
    expect(await least(delay, 1)).toBeLessThan(1);
  });
});
