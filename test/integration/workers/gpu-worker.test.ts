import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { findLlamaServer, startLlamaServer, type LlamaServer } from '../../helpers/upstreams/start-llama-server.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';
import { startMessagesUpstream } from '../../helpers/upstreams/start-messages-upstream.ts';
import { startProcess } from '../../helpers/processes/start-process.ts';

const program = findLlamaServer();

let cluster: Cluster | undefined;
let server: LlamaServer | undefined;

afterEach(async () => {
  await cluster?.stop();
  await server?.stop();
  cluster = undefined;
  server = undefined;
});

function ask(body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${cluster?.url}/api/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cluster?.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'auto', messages: [{ role: 'user', content: 'Hello' }], ...body }),
    ...(signal && { signal }),
  });
}

describe.skipIf(program === undefined)('a cluster on a real llama-server', () => {
  it('serves messages clients, with the same token count before and after', async () => {
    server = await startLlamaServer(program ?? '');
    cluster = await startCluster({ engineUrl: server.url });
    const { url, key } = cluster;
    const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } }];
    const question = { model: 'tiny', system: 'Be brief.', messages: [{ role: 'user', content: 'Hello' }], tools };
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const answer = await fetch(`${url}/api/anthropic/v1/messages${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    const counted = await post('/count_tokens', question);
    expect(counted['input_tokens']).toBeGreaterThan(20);
    expect(await post('', { ...question, max_tokens: 30 })).toMatchObject({
      type: 'message',
      model: 'tiny',
      usage: { input_tokens: counted['input_tokens'] },
    });
    const anthropic = new Anthropic({ baseURL: `${url}/api/anthropic`, apiKey: key, maxRetries: 0 });
    const turns = [
      ...question.messages.map(({ content }) => ({ role: 'user' as const, content })),
      { role: 'assistant' as const, content: 'Well — ' },
      { role: 'user' as const, content: 'And then? '.repeat(40) },
    ];
    for (const messages of [turns.slice(0, 1), turns]) {
      const asked = { ...question, messages, tools: [tools[0] as Anthropic.Tool] };
      const { input_tokens: exact } = await anthropic.messages.countTokens(asked);
      const events: Anthropic.MessageStreamEvent[] = [];
      const stream = await anthropic.messages.create({ ...asked, max_tokens: 5, stream: true });
      for await (const event of stream) events.push(event);
      expect(events[0]).toMatchObject({ type: 'message_start', message: { usage: { input_tokens: exact } } });
    }
  });

  it('gives several choices, streamed and whole, and `auto` asks no agent for them', async () => {
    server = await startLlamaServer(program ?? '');
    cluster = await startCluster({ engineUrl: server.url });
    await cluster.addCliWorker();
    const openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
    const asked = {
      model: 'auto',
      n: 2,
      max_tokens: 12,
      temperature: 1,
      reasoning_effort: 'none' as const,
      messages: [{ role: 'user' as const, content: 'Hello' }],
    };
    for (const answer of [
      await openai.chat.completions.create(asked),
      await openai.chat.completions.stream(asked).finalChatCompletion(),
    ]) {
      expect(answer.model).toBe('tiny');
      expect(answer.choices.map(({ index }) => index)).toEqual([0, 1]);
      const [one, other] = answer.choices.map(({ message }) => message.content);
      expect(one).toMatch(/\w/);
      expect(other).toMatch(/\w/);
      expect(other).not.toBe(one);
      expect(answer.usage?.completion_tokens).toBeGreaterThan(12);
    }
    const refused = await ask({ model: 'm1', n: 2 });
    expect(await refused.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'n' } });
    expect(refused.status).toBe(400);
  });

  it('passes on in its own words that its model takes no images or sounds', async () => {
    server = await startLlamaServer(program ?? '');
    cluster = await startCluster({ engineUrl: server.url });
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
    const sound = { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } };
    const file = { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' } };
    const unread = await ask({ model: 'tiny', messages: [{ role: 'user', content: [file] }] });
    expect([unread.status, await unread.text()]).toEqual([400, expect.stringContaining('content')]);
    for (const [part, what] of [
      [image, 'image'],
      [sound, 'audio'],
    ] as const) {
      const answer = await ask({ model: 'tiny', messages: [{ role: 'user', content: [part] }] });
      expect(await answer.json()).toMatchObject({
        error: { type: 'invalid_request_error', message: expect.stringContaining(`${what} input is not supported`) },
      });
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([400, 'false']);
    }
  });

  it('is not chosen by `auto` for files, which it refuses, where another takes them', async () => {
    server = await startLlamaServer(program ?? '');
    cluster = await startCluster({ engineUrl: server.url });
    const far = await startMessagesUpstream(['far'], () => [{ type: 'text', text: 'Read.' }]);
    onTestFinished(() => far.stop());
    await cluster.addCloudWorker({ PROVIDER: 'anthropic', PROVIDER_URL: `${far.url}/v1`, PROVIDER_KEY: 'none' });
    const file = { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' } };
    const tierOf = async (body: object): Promise<string | null> => {
      const answer = await ask({ ...body, max_tokens: 5 });
      await answer.text();
      return answer.headers.get('x-rtr-tier');
    };
    expect(await tierOf({})).toBe('gpu');
    expect(await tierOf({ messages: [{ role: 'user', content: [file] }] })).toBe('cloud');
  });

  it('answers, and frees the engine within a second of its client', async () => {
    server = await startLlamaServer(program ?? '');
    cluster = await startCluster({ engineUrl: server.url });
    const answer = await ask({ max_tokens: 20, reasoning_effort: 'none' });
    expect(await answer.json()).toMatchObject({ model: 'tiny', usage: { completion_tokens: expect.any(Number) } });

    const openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
    const asked = { model: 'auto', input: 'Hello', max_output_tokens: 20, top_logprobs: 2, store: false };
    const likely = {
      ...asked,
      include: ['message.output_text.logprobs' as const],
      reasoning: { effort: 'none' as const },
    };
    for (const response of [
      await openai.responses.create(likely),
      await openai.responses.stream(likely).finalResponse(),
    ]) {
      const [part] = response.output.flatMap((item) => (item.type === 'message' ? item.content : []));
      if (part?.type !== 'output_text') throw new Error('there is no text');
      const tokens = part.logprobs ?? [];
      expect(tokens.length).toBeGreaterThan(3);
      expect(Buffer.from(tokens.flatMap(({ bytes }) => bytes)).toString()).toBe(part.text);
      for (const { logprob, top_logprobs: top } of tokens) {
        expect(logprob).toBeLessThanOrEqual(0);
        expect(top).toHaveLength(2);
      }
    }

    const client = new AbortController();
    const stream = await ask({ stream: true, ignore_eos: true }, client.signal);
    await stream.body?.getReader().read();
    const slots = `${server.url}/slots`;
    client.abort();
    await until(async () => !(await (await fetch(slots)).text()).includes('"is_processing":true'), 1000);
  });
});

describe('a request for more output than the context has room for', () => {
  const hello = { model: 'demo', messages: [{ role: 'user' as const, content: 'Hello' }] };

  it('is served within it, to clients of every format, and a header has the limit', async () => {
    cluster = await startCluster({ engine: { DEMO_CONTEXT_WINDOW: '30000' } });
    const { url, key } = cluster;
    const openai = new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey: key, maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: `${url}/api/anthropic`, apiKey: key, maxRetries: 0 });
    const chat = await openai.chat.completions.create({ ...hello, max_tokens: 32_000 }).withResponse();
    const input = chat.data.usage?.prompt_tokens ?? 0;
    expect(chat.data.choices[0]?.finish_reason).toBe('stop');
    expect(input).toBeGreaterThan(0);
    const streamed = await anthropic.messages.create({ ...hello, max_tokens: 32_000, stream: true }).withResponse();
    const events: string[] = [];
    for await (const { type } of streamed.data) events.push(type);
    expect(events.at(-1)).toBe('message_stop');
    const response = await openai.responses
      .create({ model: 'demo', input: 'Hello', max_output_tokens: 32_000 })
      .withResponse();
    expect(response.data).toMatchObject({ status: 'completed', max_output_tokens: 32_000 });
    for (const { headers } of [chat.response, streamed.response, response.response])
      expect(headers.get('x-rtr-max-tokens')).toBe(String(30_000 - input));
    const fits = await openai.chat.completions.create({ ...hello, max_tokens: 20_000 }).withResponse();
    expect(fits.response.headers.get('x-rtr-max-tokens')).toBeNull();
  });

  it('gets the error where the worker lowers no limits', async () => {
    cluster = await startCluster({ engine: { DEMO_CONTEXT_WINDOW: '30000' }, worker: { FIT_MAX_TOKENS: 'false' } });
    const answer = await ask({ ...hello, max_tokens: 32_000 });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
  });
});

describe('a gpu-worker', () => {
  it('takes no jobs while its engine is down, and serves again when it is back', async () => {
    cluster = await startCluster({ ingress: { NO_WORKER_TIMEOUT_MS: '100' } });
    expect((await ask({})).status).toBe(200);
    await cluster.engine?.kill();
    await until(async () => (await ask({})).status === 503);
    const port = new URL(cluster.engineUrl).port;
    const back = startProcess('services/demo-engine/main.ts', { PORT: port });
    try {
      await until(async () => (await ask({})).status === 200);
    } finally {
      await back.stop();
    }
  });

  it('waits for an engine that is not there yet, and stops on SIGTERM', async () => {
    const worker = startProcess('services/gpu-worker/main.ts', { ENGINE_URL: 'http://127.0.0.1:1' });
    await worker.line('waiting for the engine: it does not answer yet');
    expect(await worker.stop()).toBe(0);
  });

  it('finishes its answers before it stops', async () => {
    cluster = await startCluster({ engine: { DEMO_TOKENS_PER_SECOND: '100' } });
    const stream = await ask({ stream: true, demo: { answer_tokens: 60 } });
    const [worker] = cluster.workers;
    const stopped = worker?.stop();
    expect(await stream.text()).toMatch(/"finish_reason":"stop".*\n\ndata: \[DONE\]\n\n$/);
    expect(await stopped).toBe(0);
  });

  it('names the setting that is wrong', async () => {
    const worker = startProcess('services/gpu-worker/main.ts', { ENGINE_URL: 'nowhere' });
    await until(() => worker.lines.some(({ msg }) => String(msg).startsWith('ENGINE_URL="nowhere" is not valid')));
    expect(await worker.stop()).toBe(78);
  });
});
