import { expect, it, onTestFinished } from 'vitest';
import { startParties } from '../../../helpers/broker/broker-parties.ts';
import { until } from '../../../helpers/until.ts';

it('a worker goes on when the ingress that hands its pulls on falls silent', async () => {
  const parties = await startParties({ ingress: { offers: false } });
  onTestFinished(() => parties.close());
  const { ingress, addIngress, addWorker, prefix } = parties;
  const second = await addIngress();
  // At first only the second ingress answers the worker's request for lanes, so that it pulls through that one.
  let isQuiet = true;
  const publish = ingress.broker.publish.bind(ingress.broker);
  ingress.broker.publish = (subject, payload, reply) => {
    if (!isQuiet || !subject.includes('.lanes.')) publish(subject, payload, reply);
  };
  await addWorker({ slots: 1 });
  const serve = async (): Promise<number> => {
    const sent = ingress.send({ steps: [{ whoami: true }] });
    await until(() => sent.job.state !== 'queued', 5_000);
    const { queuedAt, claimedAt = Infinity } = await sent.finished;
    return claimedAt - queuedAt;
  };
  // The worker has its one slot full while it happens, so that its next pull is the first that goes nowhere.
  const working = ingress.send({ steps: [{ waitMs: 500 }] });
  await until(() => working.job.state === 'claimed', 5_000);
  isQuiet = false;
  // From here on it is as if the second one stood still: for the broker it still listens, and nothing comes of it.
  second.dispatcher.close();
  let swallowed = 0;
  second.broker.subscribe(`${prefix}.pull.*.*.*.*`, () => {
    swallowed += 1;
  });
  await second.broker.flush();
  await working.finished;
  await until(() => swallowed > 0, 5_000);
  expect(await serve()).toBeLessThan(2_000);
  expect(await serve()).toBeLessThan(500);
});

it('tickets of an ingress that falls silent hold a slot for a second in all, and are served when it answers again', async () => {
  const parties = await startParties({ ingress: { offers: false } });
  onTestFinished(() => parties.close());
  const { ingress, addIngress, addWorker } = parties;
  const second = await addIngress({ offers: false });
  const { id } = await addWorker({ slots: 1 });
  await until(() => second.workers.get(id) !== undefined);
  const working = ingress.send({ steps: [{ waitMs: 300 }] });
  await until(() => working.job.state === 'claimed', 5_000);
  const stuck = Array.from({ length: 5 }, () => second.send({}));
  await until(() => stuck.every(({ job }) => job.tickets.isAdmitted), 5_000);
  // As if it stood still: for the broker it still subscribes, and what comes waits until it goes on.
  const held: (() => void)[] = [];
  let isStopped = true;
  const publish = second.broker.publish.bind(second.broker);
  second.broker.publish = (...message) => {
    if (isStopped) held.push(() => publish(...message));
    else publish(...message);
  };
  const sent = ingress.send({ steps: [{ whoami: true }] });
  const begin = performance.now();
  await sent.finished;
  expect(performance.now() - begin).toBeLessThan(2_500);
  const next = performance.now();
  await ingress.send({ steps: [{ whoami: true }] }).finished;
  expect(performance.now() - next).toBeLessThan(500);
  isStopped = false;
  for (const send of held) send();
  for (const { finished } of stuck) expect(await finished).toMatchObject({ state: 'done' });
}, 20_000);
