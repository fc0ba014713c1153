import { describe } from 'vitest';
import { isBegun, placementsIn, type Parties } from '../../../helpers/broker/broker-parties.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { least } from '../../../helpers/least.ts';
import { until } from '../../../helpers/until.ts';

const alice = { owner: 'alice', key: 'laptop' };
const bob = { owner: 'bob', key: 'laptop' };

/** A step that ends the process of the worker. */
const kill: Step[] = [{ die: true }];

/** The end of such a job. */
const died = { state: 'failed', error: { code: 'workers_died' } };

describe.concurrent('a request that kills its worker', () => {
  it('takes two workers and ends, and a repeated one takes none', async ({ ingress, addWaiting, expect }) => {
    const workers = await addWaiting({}, {}, {}, {});
    const send = (steps: Step[]) => ingress.send({ steps, sender: alice }).finished;
    for (const attempts of [2, 0, 0]) expect(await send(kill)).toMatchObject({ ...died, attempts });
    expect(workers.filter(({ broker }) => broker.nc.isClosed())).toHaveLength(2);
    expect((await send([{ whoami: true }])).state).toBe('done');
  });

  it('is refused by the other ingress nodes, and only to its owner', async ({ start, expect }) => {
    const { ingress, addIngress, addWorker } = await start();
    for (const id of ['one', 'two']) await addWorker({ id });
    await addWorker({ id: 'three', kind: 'another' });
    const second = await addIngress();
    await second.workers.requestAnnouncements();
    const deadly = ['one', 'two'].map((only): Step => ({ only, die: true }));
    const steps: Step[] = [{ only: 'three', whoami: true }, ...deadly];
    const three = ingress.workers.get('three')?.pool;
    const place = () => placementsIn(ingress.workers, (pool) => pool !== three);
    const sent = ingress.send({ steps, sender: alice, findPlacements: place });
    expect((await sent.finished).error?.code).toBe('workers_died');
    await ingress.broker.flush();
    await second.broker.flush();
    expect(await second.send({ steps, sender: alice }).finished).toMatchObject({ ...died, attempts: 0 });
    expect(await second.send({ steps, sender: bob }).finished).toMatchObject({ state: 'done', text: 'three' });
  });

  it("is not the cause of its second worker's death if its answer had begun", async ({
    ingress,
    addWorker,
    expect,
  }) => {
    const first = await addWorker({ id: 'one' });
    const steps: Step[] = [{ only: 'one', hang: true }, { write: 'text' }, { waitMs: 300 }, ...kill];
    const sent = ingress.send({ steps });
    await until(() => isBegun(sent));
    await addWorker({ id: 'two' });
    await first.die();
    expect(await sent.finished).toMatchObject({ error: { code: 'worker_lost' }, text: 'text' });
    expect(sent.job.death?.worker.id).toBe('one');
  });

  /** Jobs, and one that kills its worker, on a worker that dies once the others are there. */
  async function killBeside(parties: Parties, count: number, others: readonly string[]) {
    const { ingress, addWorker } = parties;
    const one = await addWorker({ id: 'one' });
    const innocent: Step[] = [{ only: 'one', hang: true }, { waitMs: 600 }, { whoami: true }];
    const beside = Array.from({ length: count }, () => ingress.send({ steps: innocent, stream: false }));
    await until(() => beside.every(isBegun));
    // The latest job is quarantined first.
    const poison = ingress.send({ steps: [{ only: 'one', hang: true }, ...kill] });
    await until(() => isBegun(poison));
    await Promise.all(others.map((id) => addWorker({ id })));
    await one.die();
    return { beside, poison };
  }

  it('costs those beside it no attempt, and quarantined ones are kept apart', async ({ parties, expect }) => {
    const { beside, poison } = await killBeside(parties, 3, ['two', 'three', 'four', 'five']);
    const together: number[] = [];
    const watch = setInterval(() => {
      const quarantined = [...beside, poison].flatMap(({ job: { state, death, attempt } }) => {
        // A job that has waited for 0.4 seconds may share a worker.
        const keepsAway = death && attempt && state === 'claimed' && attempt.assignedAt - death.diedAt <= 400;
        return keepsAway ? attempt.worker.id : [];
      });
      together.push(quarantined.length - new Set(quarantined).size);
    }, 10);
    expect((await poison.finished).error?.code).toBe('workers_died');
    const text = expect.not.stringMatching(/^one$/);
    for (const { finished } of beside)
      expect(await finished).toMatchObject({ state: 'done', moves: ['worker_lost'], text });
    clearInterval(watch);
    expect(Math.max(...together)).toBe(0);
  });

  it('ends alone, even if there were more requests beside it than workers', async ({ start, expect }) => {
    const { beside, poison } = await killBeside(await start(), 7, ['two', 'three', 'four']);
    expect((await poison.finished).error?.code).toBe('workers_died');
    for (const { finished } of beside) expect(await finished).toMatchObject({ state: 'done', error: undefined });
  });
});

it.concurrent('a killed worker loses its jobs to another one within a second and a half', async ({ start, expect }) => {
  /** Measures the milliseconds from the death of a worker to the first answer of another one in its place. */
  const move = async (): Promise<number> => {
    const { ingress, addWorker, forkWorker } = await start();
    const first = await forkWorker({ WORKER_ID: 'first' });
    const jobs = Array.from({ length: 5 }, (_, at) =>
      ingress.send({ steps: [{ only: 'first', hang: true }, { whoami: true }], stream: at > 1 }),
    );
    await until(() => jobs.every(isBegun));
    await addWorker({ id: 'second', slots: 1 });
    const killedAt = performance.now();
    await first.process.kill();
    const reports = await Promise.all(jobs.map(({ finished }) => finished));
    for (const report of reports) expect(report).toMatchObject({ state: 'done', attempts: 2, text: 'second' });
    return Math.min(...reports.map(({ endedAt }) => endedAt)) - killedAt;
  };
  expect(await least(move, 1_500, 4)).toBeLessThan(1_500);
});
