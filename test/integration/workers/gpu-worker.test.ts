import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { until } from '../../helpers/until.ts';
import { startProcess } from '../../helpers/processes/start-process.ts';

const cluster = useCluster();

/** @param wait seconds that the request may wait for a worker */
function ask(body: object, wait = '20'): Promise<Response> {
  const asked = { messages: [{ role: 'user', content: 'Hello' }], ...body };
  return post({ ...cluster, body: asked, headers: { 'x-rtr-max-wait': wait } });
}

describe('a request for more output than the context has room for', () => {
  const hello = { messages: [{ role: 'user' as const, content: 'Hello' }] };

  it('is served within it, to clients of every format, and a header has the limit', async () => {
    await cluster.addEngine({ DEMO_MODELS: 'narrow', DEMO_CONTEXT_WINDOW: '30000' });
    const { url, key } = cluster;
    const narrow = { model: 'narrow', ...hello };
    const openai = new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey: key, maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: `${url}/api/anthropic`, apiKey: key, maxRetries: 0 });
    const chat = await openai.chat.completions.create({ ...narrow, max_tokens: 32_000 }).withResponse();
    const input = chat.data.usage?.prompt_tokens ?? 0;
    expect(chat.data.choices[0]?.finish_reason).toBe('stop');
    expect(input).toBeGreaterThan(0);
    const streamed = await anthropic.messages.create({ ...narrow, max_tokens: 32_000, stream: true }).withResponse();
    const events: string[] = [];
    for await (const { type } of streamed.data) events.push(type);
    expect(events.at(-1)).toBe('message_stop');
    const asked = { model: 'narrow', input: 'Hello', max_output_tokens: 32_000 };
    const response = await openai.responses.create(asked).withResponse();
    expect(response.data).toMatchObject({ status: 'completed', max_output_tokens: 32_000 });
    for (const { headers } of [chat.response, streamed.response, response.response])
      expect(headers.get('x-rtr-max-tokens')).toBe(String(30_000 - input));
    const fits = await openai.chat.completions.create({ ...narrow, max_tokens: 20_000 }).withResponse();
    expect(fits.response.headers.get('x-rtr-max-tokens')).toBeNull();
  });
});

describe('a gpu-worker', () => {
  it('takes no jobs while its engine is down, serves again when it is back, and finishes its answers before it stops', async () => {
    const model = 'mortal';
    const { engine, engineUrl, worker } = await cluster.addEngine({ DEMO_MODELS: model });
    const statusOf = async () => (await ask({ model, max_tokens: 5 })).status;
    expect(await statusOf()).toBe(200);
    await engine.kill();
    await until(async () => (await ask({ model, max_tokens: 5 }, '0.3')).status === 503);
    const { port } = new URL(engineUrl);
    const settings = { PORT: port, DEMO_MODELS: model, DEMO_OPTIONS: 'rate=100' };
    const back = startProcess('services/demo-engine/main.ts', settings);
    try {
      await until(async () => (await statusOf()) === 200);
      const stream = await ask({ model, stream: true, demo: { answer_tokens: 60 } });
      const stopped = worker.stop();
      expect(await stream.text()).toMatch(/"finish_reason":"stop".*\n\ndata: \[DONE\]\n\n$/);
      expect(await stopped).toBe(0);
    } finally {
      await back.stop();
    }
  });

  it('waits for an engine that is not there yet, and stops on SIGTERM', async () => {
    const worker = startProcess('services/gpu-worker/main.ts', { ENGINE_URL: 'http://127.0.0.1:1' });
    await worker.line('waiting for the engine: it does not answer yet');
    expect(await worker.stop()).toBe(0);
  });

  it('names the invalid setting', async () => {
    const worker = startProcess('services/gpu-worker/main.ts', { ENGINE_URL: 'nowhere' });
    await until(() => worker.lines.some(({ msg }) => String(msg).startsWith('ENGINE_URL="nowhere" is not valid')));
    expect(await worker.stop()).toBe(78);
  });
});
