import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { translations } from '#shared/translate/translations.ts';
import { CircuitBreaker } from '#shared/worker/circuit-breaker.ts';
import { createJobHandler } from '#shared/worker/create-job-handler.ts';
import { EngineHttp } from '#services/gpu-worker/engine-http.ts';
import { openai } from '#services/gpu-worker/engines/openai.ts';
import { EngineUpstream } from '#services/gpu-worker/engine-upstream.ts';
import { it } from '../../helpers/broker/it-with-parties.ts';
import { testWorker } from '../../helpers/broker/test-worker.ts';
import { chat } from '../../helpers/clients/keyed-requests.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { chunk, startScriptedEngine } from '../../helpers/upstreams/start-scripted-engine.ts';

const mebibyte = 1024 * 1024;
const pieces = 150;
const pieceBytes = 20 * 1024;

it('an engine is not read on, and no frame is lost, when its ingress is away for longer than the memory lasts', async ({
  start,
}) => {
  const cut = Promise.withResolvers<void>();
  const stream = async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'first' }));
    await cut.promise;
    for (let piece = 0; piece < pieces; piece += 1) {
      if (!response.write(chunk({ content: `<${piece}>`.padEnd(pieceBytes, 'x') }))) await once(response, 'drain');
      await sleep(20);
    }
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  };
  const engine = stopAfterTest(await startScriptedEngine((response) => void stream(response)));
  const http = stopAfterTest(new EngineHttp({ url: engine.url, connections: 1, connectTimeoutMs: 20_000 }));
  const upstream = new EngineUpstream({
    http,
    engine: openai,
    models: () => testWorker.models,
    fetchImage: () => Promise.reject(new Error('no image is expected here')),
    onUnreachable: () => undefined,
    translations,
    timeouts: { firstTokenMs: 60_000, idleMs: 60_000, answerMs: 60_000 },
  });
  const breaker = stopAfterTest(new CircuitBreaker(silentLog, () => undefined));

  const { addFarIngress, addWorker } = await start();
  const { far, proxy } = await addFarIngress();
  const memory = new FrameMemory(mebibyte);
  const { id } = await addWorker({ handler: breaker.wrapHandler(createJobHandler(upstream)), memory });
  await until(() => far.workers.get(id) !== undefined);

  const sent = far.send({ body: Buffer.from(JSON.stringify(chat('', { stream: true }))) });
  await until(() => sent.text().includes('first'));
  proxy.cut();
  cut.resolve();
  await until(() => memory.bytes > mebibyte / 2);
  let maxBytes = 0;
  for (let looks = 0; looks < 100; looks += 1) {
    await sleep(20);
    maxBytes = Math.max(maxBytes, memory.bytes);
  }
  expect(maxBytes).toBeLessThan(mebibyte);
  proxy.resume();
  expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
  const numbers = [...sent.text().matchAll(/<(\d+)>/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: pieces }, (_, piece) => piece));
});
