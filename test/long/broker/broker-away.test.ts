import { describe, it, type TestContext } from 'vitest';
import { startParties, type Parties } from '../../helpers/broker/broker-parties.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';
import type { TestServer } from '../../helpers/servers/test-server.ts';
import { until } from '../../helpers/until.ts';

async function start({ onTestFinished }: TestContext): Promise<Parties & { nats: TestServer }> {
  const nats = await startNats();
  onTestFinished(() => nats.stop());
  const parties = await startParties({ natsUrl: nats.url, ingress: { keepAliveMs: 2_000 } });
  onTestFinished(() => parties.close());
  return { ...parties, nats };
}

const numbers = (count: number): string => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

describe.concurrent('the broker, away', { timeout: 60_000 }, () => {
  it.for<[string, (nats: TestServer) => Promise<void>, (nats: TestServer) => Promise<void>]>([
    ['for twelve seconds, killed and started again, ends no request', (nats) => nats.kill(), (nats) => nats.restart()],
    ['for twelve seconds, standing still, ends no request', (nats) => nats.pause(), (nats) => nats.resume()],
  ])('%s', async ([, stop, resume], context) => {
    const { expect } = context;
    const { ingress, addWorker, nats } = await start(context);
    await addWorker({ slots: 8 });
    const streaming = Array.from({ length: 4 }, () => ingress.send({ steps: [{ count: 300, everyMs: 50 }] }));
    // Its only piece is lost with the broker, or comes late.
    const claimed = ingress.send({ steps: [{ waitMs: 3_000 }, { write: 'x' }] });
    const whole = ingress.send({ steps: [{ waitMs: 3_000 }, { write: 'y' }], stream: false });
    await until(() => [claimed, whole].every(({ job }) => job.attempt?.hasBegun === true));
    await until(() => streaming.every(({ text }) => text().length > 10));
    const waiting = Array.from({ length: 20 }, () => ingress.send({ steps: [{ waitMs: 20 }, { write: 'z' }] }));
    await stop(nats);
    const begin = performance.now();
    const late = ingress.send({ steps: [{ write: 'late' }] });
    await until(() => performance.now() - begin > 12_000, 15_000);
    expect(streaming.every(({ keepAlives }) => keepAlives() > 3)).toBe(true);
    await resume(nats);
    for (const { finished, text } of streaming) {
      expect(await finished).toMatchObject({ state: 'done', error: undefined, attempts: 1 });
      expect(text()).toBe(numbers(300));
    }
    for (const [sent, answer] of [[claimed, 'x'] as const, [whole, 'y'] as const, [late, 'late'] as const]) {
      expect(await sent.finished).toMatchObject({ state: 'done', error: undefined });
      expect(sent.text()).toBe(answer);
    }
    for (const { finished, text } of waiting) {
      expect((await finished).state).toBe('done');
      expect(text()).toBe('z');
    }
  });
});
