import { describe, it, type TestContext } from 'vitest';
import { isBegun, startParties, untilOffersAreTaken, type Parties } from '../../../helpers/broker/broker-parties.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { least } from '../../../helpers/least.ts';
import { until } from '../../../helpers/until.ts';

async function start({ onTestFinished }: TestContext, workers: readonly string[]): Promise<Parties> {
  const parties = await startParties();
  onTestFinished(() => parties.close());
  await Promise.all(workers.map((id) => parties.forkWorker({ WORKER_ID: id })));
  return parties;
}

const alice = { owner: 'alice', key: 'laptop' };
const bob = { owner: 'bob', key: 'laptop' };

/** Ends the process of whoever serves it. */
const kill: Step[] = [{ die: true }];

describe.concurrent('a request that kills its worker', { timeout: 30_000 }, () => {
  it('takes two workers and ends, and a repeated one takes none', async (context) => {
    const { expect } = context;
    const { ingress } = await start(context, ['one', 'two', 'three', 'four']);
    await untilOffersAreTaken(ingress);
    const sent = ingress.send({ steps: kill, sender: alice });
    expect(await sent.finished).toMatchObject({ state: 'failed', attempts: 2, error: { code: 'workers_died' } });
    for (let retry = 0; retry < 2; retry += 1) {
      const { error, attempts } = await ingress.send({ steps: kill, sender: alice }).finished;
      expect([error?.code, attempts]).toEqual(['workers_died', 0]);
    }
    await until(() => [...ingress.workers.workers()].length === 2);
    const other = ingress.send({ steps: [{ whoami: true }], sender: alice });
    expect((await other.finished).state).toBe('done');
  });

  it('is refused by the other ingress nodes, and only to its owner', async (context) => {
    const { expect } = context;
    const { ingress, addIngress } = await start(context, ['one', 'two', 'three']);
    const second = await addIngress();
    await second.workers.requestAnnouncements();
    const steps: Step[] = [
      { only: 'three', whoami: true },
      { only: 'one', die: true },
      { only: 'two', die: true },
    ];
    const three = ingress.workers.get('three');
    if (!three) throw new Error('the worker is not known');
    three.announcement.accepting = false;
    const sent = ingress.send({ steps, sender: alice });
    expect((await sent.finished).error?.code).toBe('workers_died');
    await ingress.broker.flush();
    await second.broker.flush();
    const refused = second.send({ steps, sender: alice });
    expect(await refused.finished).toMatchObject({ state: 'failed', attempts: 0, error: { code: 'workers_died' } });
    const bobs = second.send({ steps, sender: bob });
    expect((await bobs.finished).state).toBe('done');
    expect(bobs.text()).toBe('three');
  });

  it('is not blamed for its second worker when its answer had begun there', async (context) => {
    const { expect } = context;
    const { ingress, forkWorker } = await start(context, []);
    const first = await forkWorker({ WORKER_ID: 'one' });
    const sent = ingress.send({
      steps: [{ only: 'one', hang: true }, { write: 'text' }, { waitMs: 300 }, { die: true }],
    });
    await until(() => isBegun(sent));
    await forkWorker({ WORKER_ID: 'two' });
    await first.process.kill();
    const { error } = await sent.finished;
    expect([error?.code, sent.text()]).toEqual(['worker_lost', 'text']);
    expect(sent.job.death?.worker.id).toBe('one');
  });

  it('costs those beside it no attempt, and the suspects of its first death are apart', async (context) => {
    const { expect } = context;
    const { ingress, forkWorker } = await start(context, ['one']);
    const innocent: Step[] = [{ only: 'one', hang: true }, { waitMs: 600 }, { whoami: true }];
    const beside = [1, 2, 3].map(() => ingress.send({ steps: innocent, stream: false }));
    await until(() => beside.every(isBegun));
    await Promise.all(['two', 'three', 'four', 'five'].map((id) => forkWorker({ WORKER_ID: id })));
    for (const worker of ingress.workers.workers()) worker.hasRefused = worker.id !== 'one';
    const poison = ingress.send({ steps: kill });
    const together: number[] = [];
    const watch = setInterval(() => {
      const suspects = [...beside, poison].flatMap(({ job: { state, death, attempt } }) => {
        // One that has waited for 0.4 seconds may be with another one.
        const keepsAway = death && attempt && state === 'claimed' && attempt.claimedAt - death.at <= 400;
        return keepsAway ? attempt.worker.id : [];
      });
      together.push(suspects.length - new Set(suspects).size);
    }, 10);
    context.onTestFinished(() => clearInterval(watch));
    expect((await poison.finished).error?.code).toBe('workers_died');
    for (const { finished, text } of beside) {
      const { state, moves } = await finished;
      expect([state, moves]).toEqual(['done', ['worker_lost']]);
      expect(text()).not.toBe('one');
    }
    expect(Math.max(...together)).toBe(0);
  });

  it('ends alone, although more requests were beside it than there are workers', async (context) => {
    const { expect } = context;
    const { ingress, forkWorker } = await start(context, ['one']);
    const innocent: Step[] = [{ only: 'one', hang: true }, { waitMs: 600 }, { whoami: true }];
    const beside = Array.from({ length: 7 }, () => ingress.send({ steps: innocent, stream: false }));
    await until(() => beside.every(isBegun));
    await Promise.all(['two', 'three', 'four'].map((id) => forkWorker({ WORKER_ID: id })));
    for (const worker of ingress.workers.workers()) worker.hasRefused = worker.id !== 'one';
    expect((await ingress.send({ steps: kill }).finished).error?.code).toBe('workers_died');
    for (const { finished } of beside) expect((await finished).state).toBe('done');
  });
});

describe.concurrent('a worker that is killed', () => {
  it('with its connection open loses its jobs to another one within a second and a half', async (context) => {
    const { expect } = context;
    /** Milliseconds from the death of a worker to the first answer that another one gives in its place. */
    const move = async (): Promise<number> => {
      const { ingress, forkWorker } = await start(context, []);
      const first = await forkWorker({ WORKER_ID: 'first' });
      const jobs = Array.from({ length: 5 }, () =>
        ingress.send({ steps: [{ only: 'first', hang: true }, { whoami: true }] }),
      );
      await until(() => jobs.every(isBegun));
      await forkWorker({ WORKER_ID: 'second', SLOTS: '1' });
      const killedAt = performance.now();
      await first.process.kill();
      const reports = await Promise.all(jobs.map(({ finished }) => finished));
      expect(reports.map(({ state }) => state)).toEqual(jobs.map(() => 'done'));
      expect(jobs.map(({ text }) => text())).toEqual(jobs.map(() => 'second'));
      return Math.min(...reports.map(({ endedAt }) => endedAt)) - killedAt;
    };
    expect(await least(move, 1_500, 4)).toBeLessThan(1_500);
  });
});
