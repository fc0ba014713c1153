import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import type { BackgroundJob } from '#shared/background/background-job.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker, RunLaterError } from '#shared/background/background-worker.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { createLog } from '#shared/core/log.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { readAllValues } from '../../helpers/accounts/read-all-values.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { createSliceJob } from '#shared/background/batch-jobs.ts';

interface Data {
  name: string;
}

function open(url = inject('redisUrl'), prefix = `test-${randomUUID()}:`) {
  const access = { url, prefix, log: createLog({ service: 'test', level: 'fatal', format: 'json' }) };
  const jobs = stopAfterTest(new BackgroundJobs(access));
  const work = (queue: BackgroundJob['queue'], handle: (data: Data) => Promise<void>) =>
    stopAfterTest(new BackgroundWorker<Data>({ access, queue, concurrency: 1, handle }));
  return { jobs, work, prefix, stored: async () => readAllValues((await openKeyStore()).redis, prefix) };
}

function job(queue: BackgroundJob['queue'], name: string, priority?: number): BackgroundJob<Data> {
  return { queue, id: name, data: { name }, priority };
}

describe('background work', () => {
  it('that follows other work begins when all of that is done, and nothing is left of either', async () => {
    const { jobs, work, stored } = open();
    const done: string[] = [];
    const handle = async ({ name }: Data): Promise<void> => void done.push(name);
    const before = [job('batch-slices', 'second', 2), job('batch-slices', 'first', 1)];
    await jobs.addAfter(job('batch-endings', 'end'), before);
    work('batch-endings', handle);
    work('batch-slices', handle);
    await until(() => done.length === 3);
    expect(done).toEqual(['first', 'second', 'end']);
    await until(async () =>
      Object.values(await jobs.countAll()).every(({ waiting, active }) => waiting + active === 0),
    );
    expect(await stored()).not.toContain('"name"');
  });

  it('returns the priority of the next job', async () => {
    const { jobs } = open();
    expect(await jobs.findNextPriority('batch-slices')).toBe(0);
    await jobs.add(job('batch-slices', 'second', 12));
    await jobs.add(job('batch-slices', 'first', 7));
    expect(await jobs.findNextPriority('batch-slices')).toBe(7);
    expect(await jobs.countWaiting('batch-slices')).toBe(2);
  });

  it('runs again later when its handler asks for that, and after a failure', async () => {
    const { jobs, work } = open();
    const attempts: string[] = [];
    const worker = work('batch-slices', async ({ name }) => {
      attempts.push(name);
      const before = attempts.filter((each) => each === name).length - 1;
      if (name === 'later' && before === 0) throw new RunLaterError(50);
      if (name === 'fails' && before === 0) throw new Error('no luck');
    });
    for (const name of ['later', 'fails']) await jobs.add(job('batch-slices', name));
    await until(() => worker.completions === 2);
    expect([attempts.length, worker.failures]).toEqual([4, 1]);
  });

  it('that fails is named with its reason, and can be tried again before its time', async () => {
    const { jobs, work, stored } = open();
    let isBroken = true;
    const worker = work('batch-endings', async ({ name }) => {
      if (isBroken) throw new Error(`${name} is broken`);
    });
    const untilFails = (queue: BackgroundJob['queue'], id: string, reason: string) =>
      until(async () => {
        const failing = await jobs.listFailing(queue, 5);
        expect(failing).toMatchObject([{ id, reason }]);
        expect(failing[0]?.failures).toBeGreaterThanOrEqual(1);
      });
    await jobs.add(job('batch-endings', 'a'));
    await untilFails('batch-endings', 'a', 'a is broken');
    // A stack for each failure would make a job grow for as long as it fails.
    expect(await stored()).not.toContain('    at ');
    work('batch-slices', () => Promise.reject(new AggregateError([])));
    await jobs.add(job('batch-slices', 'b'));
    await untilFails('batch-slices', 'b', 'an error without a message');
    expect(await jobs.listFailing('batch-validations', 5)).toEqual([]);
    isBroken = false;
    await jobs.tryNow({ queue: 'batch-endings', id: 'a' });
    await until(() => worker.completions === 1);
    expect(await jobs.tryNow({ queue: 'batch-endings', id: 'a' })).toBe(false);
    expect(await jobs.listFailing('batch-endings', 5)).toEqual([]);
  });

  it('is added once while it waits, and again when it is done', async () => {
    const { jobs, work } = open();
    for (let time = 0; time < 2; time += 1) await jobs.add(job('batch-validations', 'a'));
    expect((await jobs.countAll())['batch-validations']).toEqual({ waiting: 1, active: 0, delayed: 0, failed: 0 });
    const done: string[] = [];
    const worker = work('batch-validations', async ({ name }) => void done.push(name));
    await until(() => worker.completions === 1);
    await jobs.add(job('batch-validations', 'a'));
    await until(() => done.length === 2);
  });

  it('that is repeated is done once each time, and goes on when its schedule was lost', async () => {
    const { jobs, work, prefix } = open();
    const at: number[] = [];
    const handle = async ({ name }: Data): Promise<void> => void (name === 'tick' && at.push(Date.now()));
    const everyMs = 200;
    const repeat = () => jobs.repeat({ queue: 'scheduled', id: 'tick', data: { name: 'tick' }, everyMs });
    await Promise.all([repeat(), repeat()]);
    work('scheduled', handle);
    work('scheduled', handle);
    await until(() => at.length >= 3);
    for (let times = 0; times < 5; times += 1) await repeat();
    await until(() => at.length >= 8);
    const spanMs = (at.at(-1) ?? 0) - (at[0] ?? 0);
    expect(at.length).toBeLessThanOrEqual(Math.floor(spanMs / everyMs) + 2);
    // One may be due at this moment.
    await until(async () => expect((await jobs.countAll()).scheduled).toMatchObject({ waiting: 0, failed: 0 }));
    const { redis } = await openKeyStore();
    for (const name of await redis.keys(`${prefix}*`)) await redis.del(name);
    const before = at.length;
    await repeat();
    await until(() => at.length >= before + 3);
  });

  it('is refused within seconds while Redis is away', async () => {
    const { jobs } = open(`redis://127.0.0.1:${await findFreePort()}`);
    await expect(jobs.add(job('batch-validations', 'a'))).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

/** The batches in the order in which their slices are worked on, by their first letters. */
function order(batches: Record<string, { slices: number; ofOwner: number }>): string {
  return Object.entries(batches)
    .flatMap(([id, { slices, ofOwner }]) =>
      Array.from({ length: slices }, (_, slice) => createSliceJob(id, slice, { ofOwner })),
    )
    .toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0))
    .map(({ id }) => id.slice(0, 1))
    .join('');
}

it('batches of different owners progress alike, also one that is much longer', () => {
  expect(order({ a: { slices: 6, ofOwner: 1 }, b: { slices: 2, ofOwner: 1 } })).toBe('ababaaaa');
});

it('several batches of one owner progress together as one of another owner does', () => {
  const owners = { a: { slices: 4, ofOwner: 1 }, b: { slices: 2, ofOwner: 2 }, c: { slices: 2, ofOwner: 2 } };
  expect(order(owners)).toBe('aabcaabc');
});

it('a stream of short batches does not hold back a long one, and need not wait for its end', () => {
  const jobs = (id: string, slices: number, next = 0) =>
    Array.from({ length: slices }, (_, slice) => createSliceJob(id, slice, { ofOwner: 1, next }));
  const waiting = jobs('long', 20);
  const done: string[] = [];
  const isLongOver = (): boolean => !waiting.some(({ data }) => data.batch === 'long');
  while (!isLongOver() && done.length < 200) {
    // For each slice that is done, a new short batch begins.
    waiting.sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0));
    done.push(waiting.shift()?.data.batch ?? '');
    waiting.push(...jobs(`short-${done.length}`, 1, waiting[0]?.priority));
  }
  expect(done.indexOf('short-1')).toBeLessThanOrEqual(3);
  expect(isLongOver()).toBe(true);
});
