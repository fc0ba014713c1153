import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type OpenAI from 'openai';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchClients, chatLine, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';
import { startScriptedEngine } from '../../helpers/upstreams/start-scripted-engine.ts';
import { useStarted } from '../../helpers/use-started.ts';

/** What requests contain that the engine refuses. */
let refused: string | undefined;
let openai: OpenAI;

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const engine = useStarted(() =>
  startScriptedEngine((response, { url = '' }) => {
    if (url.endsWith('/models'))
      return send(response, 200, { object: 'list', data: [{ id: 'limited', object: 'model' }] });
    if (!url.endsWith('/chat/completions')) return send(response, 404, {});
    if (refused !== undefined && engine.bodies.at(-1)?.includes(refused))
      return send(response, 429, { error: { message: 'Slow down.', type: 'requests', code: 'rate_limit_exceeded' } });
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 };
    return send(response, 200, { id: 'x', object: 'chat.completion', created: 1, model: 'limited', choices, usage });
  }),
);
const cluster = useStarted(() => startCluster({ engineUrl: engine.url, worker: { SLOTS: '4' } }));
beforeAll(async () => {
  ({ openai } = batchClients(cluster));
  await cluster.addBatchRunner();
});
beforeEach(() => {
  refused = undefined;
});

const line = (id: string, text: string) => chatLine(id, text, { model: 'limited' });
const sent = (text: string) => engine.bodies.filter((body) => body.includes(text)).length;

/** Milliseconds of a live request. */
async function liveMs(): Promise<number> {
  const startedAt = performance.now();
  const messages = [{ role: 'user' as const, content: 'A live one.' }];
  await openai.chat.completions.create({ model: 'limited', messages }, { maxRetries: 0 });
  return performance.now() - startedAt;
}

describe('a batch whose upstream limits the rate', () => {
  it('says so, leaves the rate to live requests, and goes on by itself', async () => {
    refused = 'Of a batch';
    const lines = Array.from({ length: 20 }, (_, at) => line(`l${at}`, `Of a batch: ${at}.`));
    const { id } = await submit(openai, lines);
    const startedAt = performance.now();
    let slowest = 0;
    while (performance.now() - startedAt < 12_000) {
      slowest = Math.max(slowest, await liveMs());
      await sleep(300);
    }
    // One that a pause of the worker holds up waits for longer and longer.
    expect(slowest).toBeLessThan(8_000);
    const paused = { reason: 'limited takes no requests for now. The upstream limits the rate of requests.' };
    const expected = { status: 'in_progress', paused, request_counts: { completed: 0, failed: 0 } };
    await until(async () => expect(await openai.batches.retrieve(id)).toMatchObject(expected));
    // Four at once, then two, and then one at a time that waits for longer each time.
    expect(sent('Of a batch')).toBeLessThanOrEqual(9);
    refused = undefined;
    const ended = await untilBatch(openai, id, undefined, 90_000);
    expect(ended.request_counts).toEqual({ total: 20, completed: 20, failed: 0 });
    expect('paused' in ended).toBe(false);
  });

  it('has its other lines answered where only one is refused, which is tried more and more rarely', async () => {
    refused = 'Too large.';
    const good = Array.from({ length: 30 }, (_, at) => line(`l${at}`, `Say ${at}.`));
    const { id } = await submit(openai, [...good.slice(0, 3), line('large', 'Too large.'), ...good.slice(3)]);
    const counts = async () => (await openai.batches.retrieve(id)).request_counts;
    await until(async () => (await counts())?.completed === 30, 60_000);
    await until(async () => 'paused' in (await openai.batches.retrieve(id)));
    expect(sent('Too large.')).toBeLessThanOrEqual(5);
    await openai.batches.cancel(id);
    expect((await untilBatch(openai, id)).request_counts).toMatchObject({ total: 31, completed: 30 });
  });
});
