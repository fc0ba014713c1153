import { it } from '../../../helpers/broker/it-with-parties.ts';
import { least } from '../../../helpers/least.ts';
import { until } from '../../../helpers/until.ts';

const options = { ingress: { offers: false } };

it.concurrent('a worker goes on when the ingress that hands its pulls on falls silent', async ({ start, expect }) => {
  const slowness = async (): Promise<number> => {
    const { ingress, addIngress, addWorker, prefix } = await start(options);
    const second = await addIngress();
    // At first only the second ingress answers the worker's request for lanes, so that it pulls through that one.
    let isQuiet = true;
    ingress.onSend((message, send) => {
      if (!isQuiet || !message.subject.includes('.lanes.')) send(message);
    });
    await addWorker({ slots: 1 });
    const serve = async (): Promise<number> => {
      const { queuedAt, claimedAt = Infinity } = await ingress.send({ steps: [{ whoami: true }] }).finished;
      return claimedAt - queuedAt;
    };
    // The worker has its one slot full meanwhile, so that its next pull is the first that gets lost.
    const working = ingress.send({ steps: [{ waitMs: 500 }] });
    await until(() => working.job.state === 'claimed');
    isQuiet = false;
    // From here on the second ingress seems to hang: the broker still lists it as a subscriber, and it answers nothing.
    second.dispatcher.close();
    let swallowed = 0;
    second.broker.subscribe(`${prefix}.pull.*.*.*.*.*`, () => void (swallowed += 1));
    await second.broker.flush();
    await working.finished;
    await until(() => swallowed > 0);
    return Math.max((await serve()) / 4_000, (await serve()) / 900);
  };
  // At most four seconds at first, and 0.9 later.
  expect(await least(slowness, 1, 3)).toBeLessThan(1);
});

it.concurrent('tickets of a silent ingress hold a slot for a second and are served later', async ({
  start,
  expect,
}) => {
  const slowness = async (): Promise<number> => {
    const { ingress, addIngress, addWorker } = await start(options);
    const second = await addIngress({ offers: false });
    const { id } = await addWorker({ slots: 1 });
    await until(() => second.workers.get(id) !== undefined);
    const working = ingress.send({ steps: [{ waitMs: 300 }] });
    await until(() => working.job.state === 'claimed');
    const stuck = Array.from({ length: 5 }, () => second.send({}));
    await until(() => stuck.every(({ job }) => job.tickets.isAdmitted));
    // The broker still lists it as a subscriber, and messages wait until it continues.
    const goOn = second.freeze();
    const serve = async (): Promise<number> => {
      const { queuedAt, endedAt } = await ingress.send({ steps: [{ whoami: true }] }).finished;
      return endedAt - queuedAt;
    };
    const found = Math.max((await serve()) / 4_000, (await serve()) / 900);
    goOn();
    for (const { finished } of stuck) expect(await finished).toMatchObject({ state: 'done' });
    return found;
  };
  expect(await least(slowness, 1, 3)).toBeLessThan(1);
});

it.concurrent('a job of an ingress that is gone ends when the ingress may be out of reach no longer', async ({
  start,
  expect,
}) => {
  const outOfReachMs = 1_000;
  const { addIngress, addWorker } = await start();
  const { id, worker } = await addWorker({ outOfReachMs });
  const doomed = await addIngress();
  await until(() => doomed.workers.get(id) !== undefined);
  const sent = doomed.send({ steps: [{ count: 4_000, everyMs: 20 }] });
  await until(() => sent.text() !== '' && worker.busy === 1);
  // The worker gets no message, as when the process is killed.
  const goneAt = performance.now();
  await doomed.broker.nc.close();
  await until(() => expect(worker.busy).toBe(0));
  expect(performance.now() - goneAt).toBeGreaterThan(outOfReachMs);
});
