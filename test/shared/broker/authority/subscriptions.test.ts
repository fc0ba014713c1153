import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import { createSubjects } from '#shared/broker/contract/subjects.ts';
import { startWorker } from '#shared/broker/worker/start-worker.ts';
import { testWorker } from '../../../helpers/broker/test-worker.ts';
import { startSecuredNats } from '../../../helpers/servers/start-secured-nats.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const subjects = createSubjects('rtr');

const nats = useStarted(() => startSecuredNats({ prefix: 'rtr' }));

/** A connection of a worker's credential with its inbox, and what the server refuses of it. */
async function connectAsWorker() {
  const { nc, key: process, refused } = await nats.connectWith(nats.files.gpu);
  return { nc, refused, inbox: subjects.inbox({ tier: 'gpu', credentialName: 'gpu', worker: 'w1', process }) };
}

it("a worker's credential has ten subscriptions, more than an honest worker needs", async () => {
  const { nc, refused, inbox } = await connectAsWorker();
  for (let at = 0; at < 10; at += 1) nc.subscribe(`${inbox}.p${at}.>`, { callback: () => undefined });
  await nc.flush();
  expect(refused).toEqual([]);
  nc.subscribe(`${inbox}.p10.>`, { callback: () => undefined });
  await until(() => expect(String(refused)).toMatch(/maximum subscriptions exceeded/i));
});

it('an honest worker uses at most half of them', async () => {
  const credential = parseCredential(readFileSync(nats.files.gpu, 'utf8'));
  const url = `nats://127.0.0.1:${nats.port}`;
  const broker = await connectBroker({ url, name: 'test', prefix: 'rtr', credential, log: silentLog });
  stopAfterTest(broker);
  const subscribe = vi.spyOn(broker, 'subscribe');
  const handler = () => Promise.reject(new Error('no'));
  stopAfterTest(startWorker({ ...testWorker, broker, log: silentLog, id: 'w1', models: [], handler }));
  expect(subscribe.mock.calls.length).toBeLessThanOrEqual(5);
});

it('a subscription of thousands of tokens, which costs a server a mebibyte, is refused', async () => {
  const { nc, refused, inbox } = await connectAsWorker();
  nc.subscribe(`${inbox}.p${'.z'.repeat(1_900)}`, { callback: () => undefined });
  nc.subscribe(`${inbox}.p${'.*'.repeat(1_900)}`, { callback: () => undefined });
  await until(() => expect(refused.filter(({ message }) => /permissions violation/i.test(message))).toHaveLength(2));
});
