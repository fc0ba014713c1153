import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { AlertStates } from '#shared/accounts/alerts/alert-states.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { ownContract } from '#shared/broker/contract/contract-range.ts';
import { publishIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { createLog } from '#shared/core/log.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';
import { openTestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

const silent = { service: 'test', level: 'fatal', format: 'json' } as const;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  await Promise.all(
    [1, 2].map(() => cluster.addBatchRunner({ WEBHOOK_NETWORKS: '127.0.0.1', NO_WORKER_TIMEOUT_MS: '1000' })),
  );
});
afterAll(() => cluster.stop());

describe('a worker', () => {
  it('that is lost, is back and is ejected is reported once each, with two runners', async () => {
    const receiver = await startReceiver();
    const { add, connection, prefix } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
    await add(receiver.url, { events: ['rtr.worker.*'] });
    const jobs = new BackgroundJobs({ url: inject('redisUrl'), prefix, log: createLog(silent) });
    onTestFinished(() => jobs.close());
    let count = 0;
    const lookNow = async (): Promise<void> => {
      await jobs.add({ queue: 'scheduled', id: `now-${count++}`, data: { work: 'workers' } });
      await sleep(100);
    };
    const types = (): unknown[] => receiver.messages.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    const states = new AlertStates(connection.redis, prefix);
    const seen = async (): Promise<string[]> => {
      await lookNow();
      return [...(await states.all('workers')).keys()];
    };
    await until(async () => (await seen()).length === 1);
    const [first] = await seen();
    const worker = await cluster.addWorker();
    onTestFinished(() => void worker.child.kill('SIGCONT'));
    await until(async () => (await seen()).length === 2);
    worker.child.kill('SIGSTOP');
    await until(async () => {
      await lookNow();
      return types().includes('rtr.worker.lost');
    });
    worker.child.kill('SIGCONT');
    await until(async () => {
      await lookNow();
      return types().includes('rtr.worker.back');
    });

    // Another ingress says whom it has ejected.
    const name = (await seen()).find((each) => each !== first) ?? '';
    const broker = await connectBroker({
      url: inject('natsUrl'),
      name: 'test',
      prefix: cluster.prefix,
      log: createLog(silent),
    });
    onTestFinished(() => broker.close());
    const tell = (ejected: IngressStats['ejected']): void => {
      const nothing = { requests: [], tokens: [], errors: [], firstToken: [], activeStreams: 0, servedByTier: {} };
      const stats = { v: ownContract.newest, at: Date.now(), ...nothing, lanes: [], failures: [] };
      publishIngressStats(broker, 'another', { ...stats, ejected });
    };
    await until(async () => {
      tell([{ worker: name, model: 'demo', reason: 'slow' }]);
      await lookNow();
      return types().includes('rtr.worker.ejected');
    });
    tell([]);
    await until(async () => {
      await lookNow();
      return types().length === 4;
    });
    await worker.stop();
    await lookNow();
    const ofWorker = ['rtr.worker.lost', 'rtr.worker.back', 'rtr.worker.ejected', 'rtr.worker.back'];
    expect(types()).toEqual(ofWorker);
  });
});

describe('a model', () => {
  it('whose last worker is killed is reported, and when it has one again, once each with two runners', async () => {
    const receiver = await startReceiver();
    const { add, connection, prefix } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
    await add(receiver.url, { events: ['rtr.model.*'] });
    const states = new AlertStates(connection.redis, prefix);
    await until(async () => (await states.all('models')).get('demo')?.includes('"served"') === true, 20_000);
    await cluster.workers[0]?.kill();
    await until(() => receiver.messages.length === 1, 40_000);
    await cluster.addWorker();
    await until(() => receiver.messages.length === 2, 20_000);
    const sent = receiver.messages.map(({ body }) => JSON.parse(body) as { type: string; data: object });
    const data = { models: ['demo'], count: 1 };
    expect(sent.map(({ type }) => type)).toEqual(['rtr.model.unserved', 'rtr.model.served']);
    for (const each of sent) expect(each.data).toEqual(data);
  });
});
