import { describe, inject, it, type TestContext } from 'vitest';
import { startParties, type Parties, type TestIngress } from '../../../helpers/broker/broker-parties.ts';
import { startPausableProxy, type PausableProxy } from '../../../helpers/servers/pausable-proxy.ts';
import { until } from '../../../helpers/until.ts';

/** A worker on the broker, and an ingress behind a proxy. */
async function start({ onTestFinished }: TestContext): Promise<Parties & { far: TestIngress; proxy: PausableProxy }> {
  const proxy = await startPausableProxy(Number(new URL(inject('natsUrl')).port));
  onTestFinished(() => proxy.close());
  const parties = await startParties();
  onTestFinished(() => parties.close());
  const far = await parties.addIngress({ natsUrl: `nats://127.0.0.1:${proxy.port}` });
  const { id, broker } = await parties.addWorker();
  // The worker's connection counts as old: all is kept while it is young.
  Object.defineProperty(broker, 'connectedSince', { get: () => performance.now() - 60_000 });
  await until(() => far.workers.get(id) !== undefined);
  return { ...parties, far, proxy };
}

/** Waits until this much time has passed in an outage. */
async function outage(ms: number): Promise<void> {
  const begin = performance.now();
  await until(() => performance.now() - begin > ms);
}

const numbers = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

describe.concurrent('an ingress', { timeout: 30_000 }, () => {
  it.for<[string, 'cut' | 'pause']>([
    ['whose link is cut for three seconds gets every frame of its streams', 'cut'],
    ['whose link stands still for three seconds gets every frame of its streams', 'pause'],
  ])('%s', async ([, fault], context) => {
    const { expect } = context;
    const { far, proxy } = await start(context);
    const streams = Array.from({ length: 5 }, () => far.send({ steps: [{ count: 150, everyMs: 30 }] }));
    // This one ends while nobody can tell its ingress.
    const short = far.send({ steps: [{ count: 50, everyMs: 20 }] });
    await until(() => [...streams, short].every(({ text }) => text().length > 10));
    proxy[fault]();
    await outage(3_000);
    proxy.resume();
    for (const { finished, text } of streams) {
      expect(await finished).toMatchObject({ state: 'done', attempts: 1 });
      expect(text()).toBe(numbers(150));
    }
    expect(await short.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(short.text()).toBe(numbers(50));
  });
});
