import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { startWorker } from '#shared/broker/worker/start-worker.ts';
import { createLog } from '#shared/core/log.ts';
import { runService } from '#shared/core/run-service.ts';
import { testWorker } from './test-worker.ts';
import { scriptedHandler } from './scripted-handler.ts';

// A worker in a process of its own, so that a test can stop, kill and starve it.
await runService(async (environment, releases) => {
  const { NATS_URL: url = '', RTR_PREFIX: prefix = '', WORKER_ID: id = '', SLOTS = '8' } = environment;
  const log = createLog({ service: 'worker', level: 'info', format: 'json' });
  const broker = await connectBroker({ url, name: id, prefix, log });
  releases.add('broker', () => broker.close());
  const worker = startWorker({
    ...testWorker,
    broker,
    log,
    id,
    slots: Number(SLOTS),
    handler: scriptedHandler(id, (event, requestId) => log.info({ requestId }, event)),
  });
  releases.add('worker', async () => {
    await worker.drain(10_000);
    await worker.close();
  });
  log.info({ id }, 'worker is ready');
});
