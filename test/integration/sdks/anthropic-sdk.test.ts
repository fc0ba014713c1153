import { describe, expect, it } from 'vitest';
import Anthropic1 from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic-sdk-0';
import { get, post } from '../../helpers/clients/keyed-requests.ts';
import { timeAbort } from '../../helpers/clients/time-abort.ts';
import { sdkCluster } from '../../helpers/cluster/sdk-cluster.ts';
import { least } from '../../helpers/least.ts';
import { useStarted } from '../../helpers/use-started.ts';

const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const cluster = useStarted(() => sdkCluster());

const weather = {
  name: 'get_weather',
  description: 'Tells the weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};

describe.each([
  { name: 'the current Anthropic SDK', Anthropic: Anthropic1 },
  { name: 'the last Anthropic SDK before 1.0', Anthropic: Anthropic0 as unknown as typeof Anthropic1 },
])('$name', ({ Anthropic }) => {
  const client = (options: object = {}) =>
    new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0, ...options });
  const ask = (content: string) => ({ model: 'auto', max_tokens: 500, messages: [{ role: 'user' as const, content }] });

  it('creates a message', async () => {
    const { data, request_id: requestId } = await client().messages.create(ask('Say hello.')).withResponse();
    expect(data).toMatchObject({ type: 'message', role: 'assistant', model: 'demo', stop_reason: 'end_turn' });
    expect(data.id).toMatch(/^msg_/);
    expect(data.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Say hello.') });
    expect(data.usage.input_tokens).toBeGreaterThan(0);
    expect(data.usage.output_tokens).toBeGreaterThan(0);
    expect(requestId).toBeTruthy();
  });

  it('takes the key from either header', async () => {
    for (const options of [{ apiKey: cluster.key }, { apiKey: null, authToken: cluster.key }]) {
      expect(await client(options).messages.create(ask('hi'))).toMatchObject({ type: 'message' });
    }
    for (const headers of [{ 'x-api-key': cluster.key }, { authorization: `Bearer ${cluster.key}` }]) {
      const answer = await fetch(`${cluster.url}/api/anthropic/v1/models`, {
        headers: { ...headers, 'anthropic-version': '2030-01-01', 'anthropic-beta': 'never-heard-of-2030-01-01' },
      });
      expect(answer.status).toBe(200);
    }
  });

  it('streams events in order, with contiguous block indexes', async () => {
    const stream = await client().messages.create({
      ...ask('Think, then use get_weather for "Oslo".'),
      stream: true,
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [weather],
    });
    const events = [];
    for await (const event of stream) events.push(event);
    const message = { model: 'demo', content: [], stop_reason: null };
    expect(events[0]).toMatchObject({ type: 'message_start', message });
    expect(events.at(-1)).toMatchObject({ type: 'message_stop' });
    expect(events.at(-2)).toMatchObject({ type: 'message_delta', delta: { stop_reason: 'tool_use' } });
    const starts = events.filter((event) => event.type === 'content_block_start');
    expect(starts.map(({ index }) => index)).toEqual(starts.map((_, index) => index));
    expect(starts.map(({ content_block: block }) => block.type)).toEqual(['thinking', 'tool_use']);
    const deltas = events.flatMap((event) => (event.type === 'content_block_delta' ? [event.delta.type] : []));
    expect(deltas).toContain('signature_delta');
  });

  it('accumulates with the .stream() helper', async () => {
    const stream = client().messages.stream(ask('A short answer, please.'));
    let text = '';
    stream.on('text', (piece) => {
      text += piece;
    });
    const final = await stream.finalMessage();
    expect(final.content).toMatchObject([{ type: 'text', text }]);
    expect(final.usage.output_tokens).toBeGreaterThan(0);
    expect(final.stop_reason).toBe('end_turn');
  });

  it('carries a tool call, its result and an image through a conversation', async () => {
    const first = await client().messages.create({ ...ask('Use get_weather for "Oslo".'), tools: [weather] });
    const call = first.content.find((block) => block.type === 'tool_use');
    expect(call).toMatchObject({ name: 'get_weather', input: { city: 'Oslo' } });
    const content: Anthropic1.ToolResultBlockParam['content'] = [
      { type: 'text', text: 'It rains frogs.' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } },
    ];
    const messages: Anthropic1.MessageParam[] = [
      ...ask('Use get_weather for "Oslo".').messages,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content }] },
    ];
    const second = await client().messages.create({ ...ask(''), tools: [weather], messages });
    expect(second.stop_reason).toBe('end_turn');
    expect(JSON.stringify(second.content)).toContain('It rains frogs.');
  });

  it('counts tokens as the engine does', async () => {
    const { messages } = ask('How long is this?');
    const body = { model: 'demo', system: 'You are brief.', messages, tools: [weather] };
    const { input_tokens: counted } = await client().messages.countTokens(body);
    const { usage } = await client().messages.create({ ...body, max_tokens: 50 });
    expect(counted).toBeGreaterThan(0);
    expect(Math.abs(counted - usage.input_tokens)).toBeLessThanOrEqual(usage.input_tokens * 0.02);
  });

  it('runs its tool runner to the end', async () => {
    const called: string[] = [];
    const runner = client().beta.messages.toolRunner({
      model: 'demo',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Use get_weather for "Oslo" and tell me.' }],
      tools: [
        {
          type: 'custom' as const,
          ...weather,
          parse: (input: unknown) => input as { city: string },
          run: (input: { city: string }) => {
            called.push(input.city);
            return `In ${input.city} it rains frogs.`;
          },
        },
      ],
    });
    const final = await runner.runUntilDone();
    expect(called).toEqual(['Oslo']);
    expect(JSON.stringify(final.content)).toContain('rains frogs');
  });

  it('pages through the models', async () => {
    const ids: string[] = [];
    for await (const { id } of client().models.list({ limit: 1 })) ids.push(id);
    expect(ids).toEqual(expect.arrayContaining(['auto', 'demo']));
    const first = await client().models.list({ limit: 1 });
    expect(first).toMatchObject({ has_more: true, first_id: 'auto', last_id: 'auto' });
    const model = (await client().models.retrieve('demo')) as { max_input_tokens?: number | null };
    expect(model).toMatchObject({ type: 'model', id: 'demo' });
    expect(model.max_input_tokens).toBeGreaterThan(0);
  });

  it('throws the SDK’s error classes, with the request’s id', async () => {
    const create = (body: object, options: object = {}) => client(options).messages.create({ ...ask('hi'), ...body });
    await expect(create({}, { apiKey: 'rtr_wrong' })).rejects.toThrow(Anthropic.AuthenticationError);
    await expect(create({ model: 'no-such-model' })).rejects.toThrow(Anthropic.NotFoundError);
    const error = { type: 'not_found_error', message: 'model: no-such-model' };
    const body = { type: 'error', error, request_id: expect.any(String) };
    await expect(create({ model: 'no-such-model' })).rejects.toMatchObject({ error: body });
    await expect(create({ max_tokens: 'many' })).rejects.toThrow(Anthropic.BadRequestError);
    await expect(create(ask('x\n[demo fault=429]'))).rejects.toThrow(Anthropic.RateLimitError);
    await expect(create(ask('x\n[demo fault=500]'))).rejects.toThrow(Anthropic.InternalServerError);
    const counted = client().messages.countTokens({ model: 'no-such-model', messages: [] as never });
    await expect(counted).rejects.toThrow(Anthropic.APIError);
  });

  it('throws when a stream broke', async () => {
    const stream = await client().messages.create({ ...ask('Break.\n[demo fault=drop after=5]'), stream: true });
    const read = async (): Promise<void> => {
      for await (const _ of stream) continue;
    };
    await expect(read()).rejects.toThrow(Anthropic.APIError);
  });

  it.each([true, false])('stops the engine within a second of an abort (stream: %s)', async (stream) => {
    const stop = () =>
      timeAbort(cluster, async (signal) => {
        const body = { ...ask('Go on.\n[demo tokens=100000 rate=50]'), stream };
        const answer = await client().messages.create(body, { signal });
        if (Symbol.asyncIterator in answer) for await (const _ of answer) continue;
      });
    expect(await least(stop, 1_000)).toBeLessThan(1_000);
  });
});

describe('the tool runner of the current Anthropic SDK', () => {
  it('sends the whole history after the router has refused its thread', async () => {
    const bodies: { thread?: unknown; messages: unknown[] }[] = [];
    const anthropic = new Anthropic1({
      baseURL: `${cluster.url}/api/anthropic`,
      apiKey: cluster.key,
      maxRetries: 0,
      fetch: (url, init) => {
        if (typeof init?.body === 'string') bodies.push(JSON.parse(init.body) as (typeof bodies)[number]);
        return fetch(url, init);
      },
    });
    const runner = anthropic.beta.messages.toolRunner({
      model: 'demo',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Use get_weather for "Oslo" and tell me.' }],
      tools: [{ type: 'custom', ...weather, parse: (input: unknown) => input, run: () => 'It rains frogs.' }],
    });
    const final = await runner.runUntilDone();
    expect(JSON.stringify(final.content)).toContain('rains frogs');
    expect(bodies.map(({ thread, messages }) => [thread !== undefined, messages.length])).toEqual([
      [true, 1],
      [false, 1],
      [false, 3],
    ]);
  });
});

describe('the messages format over plain HTTP', () => {
  const hi = { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
  const ask = (body: object, path = '') => post({ ...cluster, path: `/anthropic/v1/messages${path}`, body });

  it('answers HEAD /api/hello without a key', async () => {
    for (const base of ['/api/anthropic', '']) {
      expect((await fetch(`${cluster.url}${base}/api/hello`, { method: 'HEAD' })).status).toBe(200);
    }
  });

  it('reports overflow in the text that Claude Code parses', async () => {
    const messages = [{ role: 'user', content: 'word '.repeat(140_000) }];
    const answer = await ask({ ...hi, model: 'demo', messages });
    const overflow = /^prompt is too long: \d+ tokens > \d+ maximum \(capability_rejected: prompt_too_long\)$/;
    const error = { message: expect.stringMatching(overflow) };
    expect([answer.status, await answer.json()]).toMatchObject([400, { error }]);
  });

  it('answers /models on the chat path in the chat shape, with any version header', async () => {
    const answer = await get(cluster, '/openai/v1/models', { 'anthropic-version': '2023-06-01' });
    expect(await answer.json()).toMatchObject({ object: 'list' });
  });

  it('lists models for Claude Code under names that it keeps, and serves them by these names', async () => {
    const headers = { 'user-agent': 'claude-code/2.1.330' };
    const list = await get(cluster, '/anthropic/v1/models?limit=1000', headers);
    const { data } = (await list.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toContain('anthropic/auto');
    const description = expect.stringMatching(/^tier gpu, [\d,]+ tokens of/);
    const demo = { display_name: 'demo (gpu)', description };
    expect(data.find(({ id }) => id === 'anthropic/demo')).toMatchObject(demo);
    for (const model of ['anthropic/demo', 'anthropic/demo[1m]', 'demo[1m]', 'anthropic/auto'])
      expect(await (await ask({ ...hi, model })).json()).toMatchObject({ type: 'message', model: 'demo' });
    expect((await get(cluster, '/anthropic/v1/models/anthropic%2Fdemo', headers)).status).toBe(200);
    expect((await ask({ ...hi, model: 'anthropic/nope' })).status).toBe(404);
  });

  it('answers a token count for an unknown model with 404', async () => {
    const body = { model: 'nope', messages: hi.messages };
    expect((await ask(body, '/count_tokens')).status).toBe(404);
  });
});
