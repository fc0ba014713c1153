import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import OpenAI7 from 'openai';
import OpenAI6 from 'openai-6';
import { hostNode } from '../../helpers/processes/run-command.ts';
import { timeAbort } from '../../helpers/clients/time-abort.ts';
import { sdkCluster } from '../../helpers/cluster/sdk-cluster.ts';
import { least } from '../../helpers/least.ts';
import { useStarted } from '../../helpers/use-started.ts';

/** A red dot, 1 × 1 pixel. */
const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const cluster = useStarted(() => sdkCluster());

describe.each([
  { name: 'the current openai SDK', OpenAI: OpenAI7 },
  { name: 'the openai SDK for Node 20', OpenAI: OpenAI6 as unknown as typeof OpenAI7 },
])('$name', ({ OpenAI }) => {
  const client = (path = '/api/openai/v1', options: object = {}) =>
    new OpenAI({ baseURL: cluster.url + path, apiKey: cluster.key, maxRetries: 0, ...options });

  it('creates a completion, with /v1 in the base URL and without', async () => {
    for (const path of ['/api/openai/v1', '/api/openai']) {
      const { data, response } = await client(path)
        .chat.completions.create({ model: 'auto', messages: [{ role: 'user', content: 'Say hello.' }] })
        .withResponse();
      expect(data.id).toMatch(/^chatcmpl-/);
      expect(data).toMatchObject({ object: 'chat.completion', model: 'demo' });
      expect(data.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant' } });
      expect(data.choices[0]?.message.content).toContain('Say hello.');
      const { prompt_tokens: prompt = 0, completion_tokens: completion = 0, total_tokens: total } = data.usage ?? {};
      expect(prompt).toBeGreaterThan(0);
      expect(completion).toBeGreaterThan(0);
      expect(total).toBe(prompt + completion);
      expect(response.headers.get('x-rtr-tier')).toBe('gpu');
      expect(response.headers.get('x-request-id')).toBeTruthy();
    }
  });

  it('streams: role first, one id, and the last chunk with finish reason and usage', async () => {
    const messages = [{ role: 'user' as const, content: 'Count the planets.' }];
    const stream = await client().chat.completions.create({ model: 'demo', stream: true, messages });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.filter(({ choices }) => choices[0]?.delta.role).length).toBe(1);
    const last = chunks.at(-1);
    expect(last?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(Object.keys(last?.choices[0]?.delta ?? { none: true })).toEqual([]);
    expect(last?.usage?.completion_tokens).toBeGreaterThan(0);
    expect(chunks.slice(0, -1).every(({ usage, choices }) => !usage && choices[0]?.finish_reason === null)).toBe(true);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toContain('Count the planets.');
  });

  it('accumulates with the .stream() helper', async () => {
    const messages = [{ role: 'user' as const, content: 'A short answer, please.' }];
    const stream = client().chat.completions.stream({ model: 'demo', messages });
    let text = '';
    stream.on('content', (piece) => {
      text += piece;
    });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe(text);
    expect(final.choices[0]?.finish_reason).toBe('stop');
    expect((await stream.totalUsage()).completion_tokens).toBeGreaterThan(0);
  });

  it('runs a loop with parallel tools to its end', async () => {
    const called: string[] = [];
    const tool = (name: string) => ({
      type: 'function' as const,
      function: {
        name,
        description: `Tells the ${name} of a city`,
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        parse: JSON.parse,
        function: (input: { city: string }) => {
          called.push(name);
          return `${name} of ${input.city}: fine`;
        },
      },
    });
    const runner = client().chat.completions.runTools({
      model: 'demo',
      stream: true,
      messages: [{ role: 'user', content: 'Use get_weather and get_population in parallel for "Oslo".' }],
      tools: [tool('get_weather'), tool('get_population')],
    });
    const answer = await runner.finalContent();
    expect(called.sort()).toEqual(['get_population', 'get_weather']);
    expect(answer).toContain('get_weather of Oslo: fine');
    expect(answer).toContain('get_population of Oslo: fine');
  });

  it('sends an image', async () => {
    const content: OpenAI7.ChatCompletionContentPart[] = [
      { type: 'text', text: 'What is in this picture?' },
      { type: 'image_url', image_url: { url: image } },
    ];
    const messages = [{ role: 'user' as const, content }];
    const { choices } = await client().chat.completions.create({ model: 'auto', messages });
    expect(choices[0]?.message.content).toMatch(/image/i);
  });

  it('relays thinking as reasoning_content', async () => {
    const stream = await client().chat.completions.create({
      model: 'demo',
      stream: true,
      reasoning_effort: 'high',
      messages: [{ role: 'user', content: 'Think first.' }],
    });
    let thinking = '';
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta as { reasoning_content?: string } | undefined;
      thinking += delta?.reasoning_content ?? '';
    }
    expect(thinking.length).toBeGreaterThan(0);
  });

  it.each([true, false])('stops the engine within a second of an abort (stream: %s)', async (stream) => {
    const content = 'Go on for long.\n[demo answer_tokens=100000 tokens_per_second=50]';
    const stop = () =>
      timeAbort(cluster, async (signal) => {
        const body = { model: 'demo', stream, messages: [{ role: 'user' as const, content }] };
        const answer = await client().chat.completions.create(body, { signal });
        if (Symbol.asyncIterator in answer) for await (const _ of answer) continue;
      });
    expect(await least(stop, 1_000)).toBeLessThan(1_000);
  });

  it('lists the models and finds one', async () => {
    const ids = [];
    for await (const { id } of client().models.list()) ids.push(id);
    expect(ids).toEqual(expect.arrayContaining(['auto', 'demo']));
    expect(await client().models.retrieve('demo')).toMatchObject({ id: 'demo', object: 'model' });
  });

  it('throws the SDK’s error classes', async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }];
    const create = (body: object, options: object = {}) =>
      client('/api/openai/v1', options).chat.completions.create({ model: 'demo', messages, ...body });
    await expect(create({}, { apiKey: 'rtr_wrong' })).rejects.toThrow(OpenAI.AuthenticationError);
    await expect(create({ model: 'no-such-model' })).rejects.toThrow(OpenAI.NotFoundError);
    await expect(create({ temperature: 3 })).rejects.toThrow(OpenAI.BadRequestError);
    await expect(create({ temperature: 3 })).rejects.toMatchObject({ param: 'temperature' });
    await expect(create({ demo: { fault: '429', retry_after: 1 } })).rejects.toThrow(OpenAI.RateLimitError);
    await expect(create({ demo: { fault: '500' } })).rejects.toThrow(OpenAI.InternalServerError);
  });

  it('throws when a stream broke', async () => {
    const messages = [{ role: 'user' as const, content: 'Break.\n[demo fault=drop fault_after_tokens=5]' }];
    const stream = await client().chat.completions.create({ model: 'demo', stream: true, messages });
    const read = async (): Promise<void> => {
      for await (const _ of stream) continue;
    };
    await expect(read()).rejects.toThrow(OpenAI.APIError);
  });
});

describe('the openai SDK for Node 20, run by the Node of this machine', () => {
  it('streams an answer', async () => {
    const script = 'test/helpers/clients/ask-with-openai-6.mjs';
    const args = [script, `${cluster.url}/api/openai/v1`, cluster.key];
    const { stdout } = await promisify(execFile)(hostNode(), args, { timeout: 35_000 });
    expect(stdout).toContain('Say hello.');
  });
});
