import { setTimeout as sleep } from 'node:timers/promises';
import { describe, type TestContext } from 'vitest';
import { isBegun, type Parties, type PartyOptions } from '../../helpers/broker/broker-parties.ts';
import { it, type StartParties } from '../../helpers/broker/it-with-parties.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';
import type { TestServer } from '../../helpers/servers/test-server.ts';
import { until } from '../../helpers/until.ts';

/** Parties on a server of their own. */
async function startOn(
  { start, onTestFinished }: { start: StartParties } & Pick<TestContext, 'onTestFinished'>,
  ingress: PartyOptions['ingress'] = { keepAliveMs: 2_000 },
): Promise<Parties & { nats: TestServer }> {
  const nats = await startNats();
  onTestFinished(() => nats.stop());
  return { ...(await start({ natsUrl: nats.url, ingress })), nats };
}

const numbers = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

describe.concurrent('the broker, away under load', () => {
  it.for<[string, (nats: TestServer) => Promise<void>, (nats: TestServer) => Promise<void>]>([
    ['for twelve seconds, killed and started again, ends no request', (nats) => nats.kill(), (nats) => nats.restart()],
    ['for twelve seconds, standing still, ends no request', (nats) => nats.pause(), (nats) => nats.resume()],
  ])('%s', async ([, stop, resume], { start, expect, onTestFinished }) => {
    const { ingress, addWorker, nats } = await startOn({ start, onTestFinished });
    await addWorker({ slots: 8 });
    const streaming = Array.from({ length: 4 }, () => ingress.send({ steps: [{ count: 300, everyMs: 50 }] }));
    // Its only piece is lost with the broker, or comes late.
    const claimed = ingress.send({ steps: [{ waitMs: 3_000 }, { write: 'x' }] });
    const whole = ingress.send({ steps: [{ waitMs: 3_000 }, { write: 'y' }], stream: false });
    await until(() => [claimed, whole].every(isBegun));
    await until(() => streaming.every(({ text }) => text().length > 10));
    const waiting = Array.from({ length: 20 }, () => ingress.send({ steps: [{ waitMs: 20 }, { write: 'z' }] }));
    await stop(nats);
    const late = ingress.send({ steps: [{ write: 'late' }] });
    await sleep(12_000);
    expect(streaming.every(({ keepAlives }) => keepAlives() > 3)).toBe(true);
    await resume(nats);
    for (const { finished } of streaming)
      expect(await finished).toMatchObject({ state: 'done', error: undefined, attempts: 1, text: numbers(300) });
    for (const [{ finished }, text] of [[claimed, 'x'] as const, [whole, 'y'] as const, [late, 'late'] as const])
      expect(await finished).toMatchObject({ state: 'done', error: undefined, text });
    for (const { finished } of waiting) expect(await finished).toMatchObject({ state: 'done', text: 'z' });
  });

  it('without its data, while it is away for three seconds, loses no job either', async ({
    start,
    expect,
    onTestFinished,
  }) => {
    const { ingress, addWorker, nats } = await startOn({ start, onTestFinished });
    const { worker } = await addWorker({ slots: 4 });
    const streaming = ingress.send({ steps: [{ count: 100, everyMs: 40 }] });
    const quick = ingress.send({ steps: [{ write: 'a' }, { waitMs: 1_500 }, { write: 'b' }] });
    await until(() => streaming.text().length > 4 && quick.text() === 'a');
    const waiting = Array.from({ length: 20 }, () => ingress.send({ steps: [{ waitMs: 100 }, { write: 'y' }] }));
    await nats.kill();
    // What comes while it is away waits too.
    const late = ingress.send({ steps: [{ write: 'late' }] });
    await until(() => performance.now() - (ingress.broker.disconnectedSince ?? performance.now()) > 3_000);
    await nats.restart({ keepData: false });
    for (const { finished } of waiting) expect((await finished).state).toBe('done');
    expect((await late.finished).text).toBe('late');
    expect(await quick.finished).toMatchObject({ state: 'done', text: 'ab' });
    expect(await streaming.finished).toMatchObject({ state: 'done', text: numbers(100) });
    await until(() => worker.busy === 0);
  });

  it('that stands still for five seconds costs nothing but the time', async ({ start, expect, onTestFinished }) => {
    const { ingress, addWorker, nats } = await startOn({ start, onTestFinished });
    await addWorker();
    const streaming = ingress.send({ steps: [{ count: 50, everyMs: 20 }] });
    const claimed = ingress.send({ steps: [{ waitMs: 3_000 }, { write: 'x' }] });
    // The grant has to have reached the worker: one that is stuck for five seconds is given up, and the job moves.
    await until(() => streaming.text().length > 10 && isBegun(claimed));
    await nats.pause();
    await sleep(5_000);
    await nats.resume();
    for (const [{ finished }, text] of [[claimed, 'x'] as const, [streaming, numbers(50)] as const])
      expect(await finished).toMatchObject({ state: 'done', attempts: 1, text });
  });

  it('that does not come back is named in the error, to every kind of job', async ({
    start,
    expect,
    onTestFinished,
  }) => {
    const { ingress, addWorker, nats } = await startOn({ start, onTestFinished }, { timeouts: { brokerMs: 1_500 } });
    await addWorker({ slots: 1 });
    const streaming = ingress.send({ steps: [{ write: 'a' }, { hang: true }] });
    await until(() => streaming.text() === 'a');
    const waiting = ingress.send({});
    await nats.kill();
    for (const { finished } of [waiting, streaming]) expect((await finished).error?.code).toBe('broker_unavailable');
  });

  it('stops the jobs of a worker after a while', async ({ start, expect, onTestFinished }) => {
    const { ingress, addWorker, nats } = await startOn({ start, onTestFinished });
    const { worker } = await addWorker({ outOfReachMs: 3_000 });
    const sent = ingress.send({ steps: [{ write: 'a piece' }, { hang: true }] });
    await until(() => sent.text() === 'a piece');
    const begin = performance.now();
    await nats.kill();
    await until(() => worker.busy === 0);
    expect(performance.now() - begin).toBeGreaterThan(2_900);
  });
});
