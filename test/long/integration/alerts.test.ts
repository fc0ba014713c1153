import { expect, inject, it } from 'vitest';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { emptyIngressStats, publishIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { openTestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

interface Event {
  type: string;
  data: { failed?: number };
}

it('an ejected and lost worker, its model, which has one again, and a high error rate are reported once by two runners', async () => {
  const cluster = stopAfterTest(await startCluster({ ingress: { NO_WORKER_TIMEOUT_MS: '100' } }));
  await Promise.all(
    [1, 2].map(() => cluster.addBatchRunner({ WEBHOOK_NETWORKS: '127.0.0.1', NO_WORKER_TIMEOUT_MS: '1000' })),
  );
  const receiver = await startReceiver();
  const { add, states } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
  await add(receiver.url, { events: ['rtr.worker.*', 'rtr.model.*', 'rtr.errors.*'] });
  const events = () => receiver.messages.map(({ body }) => JSON.parse(body) as Event);
  const eventOf = (name: string) => events().find(({ type }) => type === name);
  const askOften = async (fields: object): Promise<Set<number>> => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => askChat(cluster, 'Hello!', fields)));
    return new Set(answers.map(({ status }) => status));
  };
  expect(await askOften({})).toEqual(new Set([200]));
  // Mistakes of clients are no errors of the router.
  expect(await askOften({ messages: 'none' })).toEqual(new Set([400]));
  await until(async () => (await states.readAll('models')).get('demo')?.includes('"served"') === true);
  await until(async () => (await states.readAll('workers')).size === 1);
  // Another ingress says that it has ejected the worker with some model, and then that it has not any more.
  const [worker = ''] = (await states.readAll('workers')).keys();
  const { prefix } = cluster;
  const broker = stopAfterTest(await connectBroker({ url: inject('natsUrl'), name: 'test', prefix, log: silentLog }));
  const tellUntil = (ejected: IngressStats['ejected'], name: string): Promise<void> =>
    until(() => {
      publishIngressStats(broker, 'another', { ...emptyIngressStats, at: Date.now(), ejected });
      return eventOf(name) !== undefined;
    });
  await tellUntil([{ worker, model: 'other', reason: 'slow' }], 'rtr.worker.ejected');
  await tellUntil([], 'rtr.worker.back');
  await cluster.workers[0]?.kill();
  expect(await askOften({})).toEqual(new Set([503]));
  await until(() => expect(new Set(events().map(({ type }) => type)).size).toBe(5), 60_000);
  await cluster.addWorker();
  await until(() => eventOf('rtr.model.served') !== undefined);
  const types = events().map(({ type }) => type.replace('rtr.', ''));
  const reported = 'errors.high model.served model.unserved worker.back worker.ejected worker.lost';
  expect(types.toSorted().join(' ')).toBe(reported);
  for (const name of ['rtr.model.unserved', 'rtr.model.served'])
    expect(eventOf(name)?.data).toEqual({ models: ['demo'], count: 1 });
  const { data } = eventOf('rtr.errors.high') ?? {};
  expect(data).toMatchObject({ threshold: 20, seconds: 300 });
  // Those that failed may have done so in two seconds, of which a runner has seen the first.
  expect(data?.failed).toBeGreaterThan(7);
  expect(data?.failed).toBeLessThanOrEqual(30);
});
