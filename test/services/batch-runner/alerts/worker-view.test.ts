import { expect, it } from 'vitest';
import { publishIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { WorkerView } from '#services/batch-runner/alerts/worker-view.ts';
import { startParties } from '../../../helpers/broker/broker-parties.ts';
import { noStats } from '../../../helpers/broker/no-stats.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';

const model = (id: string) => ({ id, capabilities: ['stream' as const] });
const soon = 4_000;

it('the models that workers serve exclude those whose workers all drain, fail or are ejected', async () => {
  const parties = stopAfterTest(await startParties());
  const { broker, workers } = parties.ingress;
  const view = stopAfterTest(new WorkerView(workers, broker));
  const first = await parties.addWorker({ models: [model('both'), model('first')] });
  const second = await parties.addWorker({ models: [model('both'), model('second')] });
  const models = (): string[] => [...(view.read(performance.now() + soon)?.models ?? [])].toSorted();
  await until(() => expect(models()).toEqual(['both', 'first', 'second']));

  const tell = (ejected: IngressStats['ejected']): void => {
    publishIngressStats(broker, 'another', { ...noStats, at: Date.now(), ejected });
  };
  const eject = (name: string) => ({ worker: first.id, model: name, reason: 'slow' });
  tell([eject('first'), eject('both')]);
  await until(() => expect(models()).toEqual(['both', 'second']));
  tell([]);
  await until(() => models().length === 3);

  await second.worker.drain(0);
  await until(() => expect(models()).toEqual(['both', 'first']));
  first.worker.update({ accepting: false, reason: 'unreachable' });
  await until(() => models().length === 0);
});
