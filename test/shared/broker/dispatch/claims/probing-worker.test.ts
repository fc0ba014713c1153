import { describe, expect, type TestContext } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { Pace } from '#shared/worker/pace.ts';
import type { Parties } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { scriptedHandler } from '../../../../helpers/broker/scripted-handler.ts';
import { testWorker } from '../../../../helpers/broker/test-worker.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';
import { until } from '../../../../helpers/until.ts';

const whoami = { steps: [{ whoami: true as const }] };

interface Pair extends Parties {
  /** The reason that the worker `sick` announces. */
  reason: () => string | undefined;
  /** Lets the upstream of `sick` fail, or serve again. */
  setSick: (isSick: boolean) => void;
  /** Jobs that `sick` began. */
  begun: () => number;
}

/** A worker `sick` whose pace follows its jobs, and a healthy peer. */
async function addPair(parties: Parties, { onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Pair> {
  let isSick = false;
  let begun = 0;
  let announce = (): void => undefined;
  const pace = new Pace({ log: silentLog, onChange: () => announce() });
  onTestFinished(() => pace.close());
  const serve = scriptedHandler('sick');
  const handler = pace.watch(async (job, reply, signal) => {
    begun += 1;
    if (isSick) throw new RouterError('upstream_failed', 'The engine fails.');
    return serve(job, reply, signal);
  });
  const [sick] = await parties.addWaiting({ id: 'sick', handler }, { id: 'healthy' });
  const { worker } = made(sick);
  announce = () => worker.update(pace.restrict(testWorker));
  return {
    ...parties,
    reason: () => worker.standing.reason,
    setSick: (sick) => void (isSick = sick),
    begun: () => begun,
  };
}

/** Sends jobs one after the other, ten a second, until a check holds. */
async function untilWithLightLoad({ ingress }: Parties, check: () => boolean, ms: number): Promise<void> {
  let sentAt = performance.now();
  await until(async () => {
    if (performance.now() - sentAt < 100) return false;
    sentAt = performance.now();
    // Conversations that belong to either worker.
    const affinity = Math.floor(Math.random() * 2 ** 32);
    expect((await ingress.send({ ...whoami, affinity }).finished).state).toBe('done');
    return check();
  }, ms);
}

describe.concurrent('a worker that probes', () => {
  it('gets a job within seconds beside a healthy peer, and serves again', async ({ start, expect, onTestFinished }) => {
    const pair = await addPair(await start(), { onTestFinished });
    pair.setSick(true);
    await untilWithLightLoad(pair, () => pair.reason() === 'failing: upstream_failed', 8_000);
    pair.setSick(false);
    await untilWithLightLoad(pair, () => pair.reason() === undefined, 6_000);
    const sick = pair.ingress.workers.get('sick');
    await until(() => expect(sick?.announcement).toMatchObject({ accepting: true, slots: 8 }));
  });

  it('takes one offer at a time, and costs few attempts while it fails', async ({ start, expect, onTestFinished }) => {
    const pair = await addPair(await start(), { onTestFinished });
    const sick = pair.ingress.workers.get('sick');
    pair.setSick(true);
    await untilWithLightLoad(pair, () => pair.reason() === 'failing: upstream_failed', 8_000);
    const before = pair.begun();
    const begin = performance.now();
    await untilWithLightLoad(pair, () => performance.now() - begin > 2_000, 8_000);
    // Closed for 1 and 2 seconds, each less a quarter.
    expect(pair.begun() - before).toBeLessThanOrEqual(2);

    pair.setSick(false);
    await until(() => sick?.announcement.accepting === true && sick.announcement.slots === 1, 8_000);
    sick?.health.recover('demo', performance.now());
    const jobs = Array.from({ length: 6 }, () => pair.ingress.send({ steps: [{ waitMs: 200 }, { whoami: true }] }));
    expect(jobs.filter(({ job }) => job.attempt?.worker === sick).length).toBeLessThanOrEqual(1);
    for (const { finished } of jobs) expect((await finished).state).toBe('done');
  });
});
