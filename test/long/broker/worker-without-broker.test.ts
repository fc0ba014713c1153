import { expect, it, onTestFinished } from 'vitest';
import { startParties } from '../../helpers/broker/broker-parties.ts';
import { until } from '../../helpers/until.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';

it('a worker that cannot reach the broker stops its jobs after a while', async () => {
  const nats = await startNats();
  onTestFinished(() => nats.stop());
  const parties = await startParties({ natsUrl: nats.url });
  onTestFinished(() => parties.close());
  const { worker } = await parties.addWorker({ outOfReachMs: 3_000 });
  const sent = parties.ingress.send({ steps: [{ write: 'a piece' }, { hang: true }] });
  await until(() => sent.text() === 'a piece');
  const begin = performance.now();
  await nats.kill();
  await until(() => worker.busy === 0, 6_000);
  expect(performance.now() - begin).toBeGreaterThan(2_900);
});
