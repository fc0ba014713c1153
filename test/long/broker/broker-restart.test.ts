import { setTimeout as sleep } from 'node:timers/promises';
import { describe, inject, it, type TestContext } from 'vitest';
import { startParties, type Parties, type PartyOptions } from '../../helpers/broker/broker-parties.ts';
import { startPausableProxy } from '../../helpers/servers/pausable-proxy.ts';
import { until } from '../../helpers/until.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';
import type { TestServer } from '../../helpers/servers/test-server.ts';

async function start(
  { onTestFinished }: TestContext,
  ingress: PartyOptions['ingress'] = {},
): Promise<Parties & { nats: TestServer }> {
  const nats = await startNats();
  onTestFinished(() => nats.stop());
  const parties = await startParties({ natsUrl: nats.url, ingress });
  onTestFinished(() => parties.close());
  return { ...parties, nats };
}

const numbers = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

describe.concurrent('the broker, stopped and started again under load', { timeout: 40_000 }, () => {
  it('ends no job: waiting, claimed and streaming ones go on, exactly', async (context) => {
    const { expect } = context;
    const { ingress, addWorker, nats } = await start(context);
    await addWorker({ id: 'one', slots: 20 });
    await addWorker({ id: 'two', slots: 20 });
    const streaming = Array.from({ length: 20 }, () => ingress.send({ steps: [{ count: 300, everyMs: 5 }] }));
    const claimed = Array.from({ length: 20 }, (_, at) =>
      ingress.send({ steps: [{ waitMs: 1_000 }, { write: 'x' }], stream: at % 2 === 0 }),
    );
    await until(() => [...streaming, ...claimed].every(({ job }) => job.state !== 'queued'));
    await until(() => streaming.every(({ text }) => text().length > 10));
    const waiting = Array.from({ length: 100 }, () => ingress.send({ steps: [{ write: 'y' }] }));
    await nats.kill();
    await nats.restart();
    for (const sent of waiting) {
      expect((await sent.finished).state).toBe('done');
      expect(sent.text()).toBe('y');
    }
    for (const sent of claimed) {
      expect(await sent.finished).toMatchObject({ state: 'done', error: undefined });
      expect(sent.text()).toBe('x');
    }
    for (const sent of streaming) {
      expect(await sent.finished).toMatchObject({ state: 'done', error: undefined });
      expect(sent.text()).toBe(numbers(300));
    }
  });

  it('without its data, while it is away for three seconds, loses no job either', async (context) => {
    const { expect } = context;
    const { ingress, addWorker, nats } = await start(context);
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
    await late.finished;
    expect(late.text()).toBe('late');
    expect((await quick.finished).state).toBe('done');
    expect(quick.text()).toBe('ab');
    expect((await streaming.finished).state).toBe('done');
    expect(streaming.text()).toBe(numbers(100));
    await until(() => worker.busy === 0);
  });

  it('that stands still for five seconds costs nothing but the time', async (context) => {
    const { expect } = context;
    const proxy = await startPausableProxy(Number(new URL(inject('natsUrl')).port));
    context.onTestFinished(() => proxy.close());
    const parties = await startParties({ natsUrl: `nats://127.0.0.1:${proxy.port}` });
    context.onTestFinished(() => parties.close());
    const { ingress, addWorker } = parties;
    await addWorker();
    const streaming = ingress.send({ steps: [{ count: 50, everyMs: 20 }] });
    await until(() => streaming.text().length > 10);
    const claimed = ingress.send({ steps: [{ waitMs: 500 }, { write: 'x' }] });
    await until(() => claimed.job.state === 'claimed');
    // The grant has to have reached the worker: one that is stuck for five seconds is given up, and the job moves.
    await ingress.broker.nc.flush();
    await sleep(50);
    proxy.pause();
    await sleep(5_000);
    proxy.resume();
    expect(await claimed.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect((await streaming.finished).state).toBe('done');
    expect(streaming.text()).toBe(numbers(50));
  });

  it('that does not come back is named in the error, to every kind of job', async (context) => {
    const { expect } = context;
    const { ingress, addWorker, nats } = await start(context, { timeouts: { brokerMs: 1_500 } });
    await addWorker({ slots: 1 });
    const streaming = ingress.send({ steps: [{ write: 'a' }, { hang: true }] });
    await until(() => streaming.text() === 'a');
    const waiting = ingress.send({});
    await nats.kill();
    expect((await waiting.finished).error?.code).toBe('broker_unavailable');
    expect((await streaming.finished).error?.code).toBe('broker_unavailable');
  });
});
