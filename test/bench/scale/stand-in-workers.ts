import { setTimeout as sleep } from 'node:timers/promises';
import { connectBroker, type Broker } from '#shared/broker/connection/connect-broker.ts';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { startWorker, type Worker } from '#shared/broker/worker/start-worker.ts';
import { createLog } from '#shared/core/log.ts';
import { noUsage } from '#shared/core/usage.ts';
import { askedModel, takeOrders, type WorkersAnswer, type StartWorkers, type WorkersOrder } from './orders.ts';

/*
 * Stands in for many workers, in one process: each is the router's own worker on a connection of its own, so that it follows the real
 * contract. Only the upstream is missing: an answer is a few bytes after a while.
 */

const log = createLog({ service: 'stand-in-workers', level: 'warn', format: 'json' });
const workers: { worker: Worker; broker: Broker }[] = [];
let started = 0;

/** Starts of workers at once. */
const startsAtOnce = 20;

const answer = JSON.stringify({
  id: 'chatcmpl-stand-in',
  object: 'chat.completion',
  created: 0,
  model: askedModel,
  choices: [{ index: 0, message: { role: 'assistant', content: 'Certainly.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

takeOrders(log, obey);

async function obey(order: WorkersOrder): Promise<WorkersAnswer> {
  if (order.kind === 'start') await start(order);
  if (order.kind === 'end') await endSome(order.count);
  return { workers: workers.length };
}

async function start(order: StartWorkers): Promise<void> {
  const { natsUrl, prefix, count, pools, models, slots, answerMs } = order;
  const first = started;
  started += count;
  const handler = handlerAfter(answerMs);
  const startOne = async (number: number): Promise<void> => {
    const id = `stand-in-${number}`;
    const broker = await connectBroker({ url: natsUrl, name: id, prefix, log });
    const names = [askedModel, ...Array.from({ length: models - 1 }, (_, at) => `vendor/model-${at}`)];
    const worker = startWorker({
      broker,
      log,
      id,
      tier: 'gpu',
      kind: `engine-${number % pools}`,
      formats: ['chat', 'messages', 'responses'],
      version: '0',
      models: names.map((name) => ({ id: name, capabilities: ['stream', 'tools', 'json'], contextWindow: 131_072 })),
      slots,
      accepting: true,
      coalesceMs: 0,
      meter: noMeter,
      handler,
    });
    workers.push({ worker, broker });
  };
  for (let number = first; number < first + count; number += startsAtOnce) {
    const size = Math.min(startsAtOnce, first + count - number);
    await Promise.all(Array.from({ length: size }, (_, at) => startOne(number + at)));
  }
}

/** Ends workers as a lost machine does: their connections close without a good-bye, which would arrive nowhere afterwards. */
async function endSome(count: number): Promise<void> {
  await Promise.all(
    workers.splice(0, count).map(async ({ broker, worker }) => {
      await broker.close();
      await worker.close();
    }),
  );
}

function handlerAfter(answerMs: number): JobHandler {
  return async (job, reply, signal) => {
    await sleep(answerMs, undefined, { signal });
    reply.write(job.stream ? `data: ${answer}\n\ndata: [DONE]\n\n` : answer);
    return { usage: { ...noUsage, promptTokens: 1, completionTokens: 1 }, finishReason: 'stop' };
  };
}

const noMeter = {
  countClaim: () => undefined,
  countOffer: () => undefined,
  countJob: () => undefined,
  countStop: () => undefined,
};
