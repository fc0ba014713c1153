import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { findCli } from '../helpers/clis/install-clis.ts';
import { startCliWorker, type CliWorker } from '../helpers/cluster/start-cli-worker.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { startFakeModelApis, type FakeModelApis } from '../helpers/upstreams/fake-model-apis.ts';
import { until } from '../helpers/until.ts';

const model = 'gpt-one';
const command = findCli('codex');

const schema = {
  type: 'object' as const,
  properties: { n: { type: 'integer' }, city: { type: 'string', description: 'A city' } },
  required: ['city'],
  additionalProperties: false,
};
const description = `Says the weather. ${'It is exact. '.repeat(400)}`.trim();
/** A name that Codex keeps for itself. */
const name = 'mcp__weather__get';
const anthropicTools: Anthropic.Tool[] = [{ name, description, input_schema: schema }];
const chatTools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name, description, parameters: schema } },
];
const responsesTools: OpenAI.Responses.Tool[] = [
  { type: 'function', name, description, parameters: schema, strict: false },
];
const answerSchema = {
  type: 'object',
  properties: { said: { type: 'string', minLength: 1 } },
  required: ['said'],
  additionalProperties: false,
};
const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Arguments as the fake upstream writes them. */
const argumentsOf = (n: number): string => `{"n" : ${n},"city" : "city ${n}"}`;

describe.skipIf(command === undefined)('tools of clients on Codex', () => {
  let api: FakeModelApis;
  let cluster: Cluster;
  let worker: CliWorker;
  let openai: OpenAI;
  let anthropic: Anthropic;

  beforeAll(async () => {
    api = await startFakeModelApis();
    cluster = await startCluster({ workers: 0, engineUrl: 'http://127.0.0.1:9' });
    worker = await startCliWorker(cluster, {
      CLI_KIND: 'codex',
      CLI_COMMAND: command ?? '',
      CLI_MODELS: model,
      OPENAI_BASE_URL: `${api.url}/v1`,
      OPENAI_API_KEY: 'upstream-key',
    });
    openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });
  }, 300_000);

  afterAll(async () => {
    await worker?.stop();
    await cluster?.stop();
    await api?.close();
  });

  const lastBody = (): JsonObject => api.calls.at(-1)?.body ?? {};

  /** The input of the last request to the upstream, without the ids and marks of Codex. */
  function lastInput(): Json[] {
    const { input } = lastBody();
    return (Array.isArray(input) ? input : []).map((item) => {
      const { id: _, internal_chat_message_metadata_passthrough: __, ...rest } = item as JsonObject;
      return rest;
    });
  }

  /** The client's tools in the last request to the upstream. */
  function lastTools(): JsonObject[] {
    const { tools } = lastBody();
    return (Array.isArray(tools) ? tools : [])
      .filter(isJsonObject)
      .filter((tool) => tool['name'] !== 'request_user_input');
  }

  async function chat(
    params: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model'>,
    streams = false,
  ): Promise<OpenAI.ChatCompletion> {
    const body = { model, ...params };
    return streams
      ? openai.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
      : openai.chat.completions.create(body);
  }

  it('is announced, so that auto and the models list have it', async () => {
    const answer = await chat({ model: 'auto', messages: [user('Hi')], tools: chatTools } as never);
    expect(answer.choices[0]?.message.content).toBe('You said: Hi');
    const { data } = await openai.models.list();
    expect(data.find(({ id }) => id === model)).toMatchObject({
      owned_by: 'cli',
      architecture: { input_modalities: ['text', 'image'] },
      supported_parameters: expect.arrayContaining([
        'tools',
        'tool_choice',
        'structured_outputs',
        'reasoning',
      ]) as string[],
    });
  });

  it.each([true, false])('makes three turns with a chat client (streamed: %s)', async (streams) => {
    const before = api.calls.length;
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'Be exact.' },
      user('How is it? [fake calls=2]'),
    ];
    const first = await chat({ messages, tools: chatTools }, streams);
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'You said: How is it? [fake calls=2]',
        tool_calls: [
          { function: { name, arguments: argumentsOf(0) } },
          { function: { name, arguments: argumentsOf(1) } },
        ],
      },
    });
    expect(first.usage).toMatchObject({
      prompt_tokens: 11,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 3 },
    });
    expect(lastTools()).toEqual([
      { type: 'function', name: expect.any(String), description, parameters: schema, strict: false },
    ]);
    const offered = lastTools()[0]?.['name'] ?? null;

    const calls = first.choices[0]?.message.tool_calls ?? [];
    const [one = '', two = ''] = calls.map(({ id }) => id);
    expect([one, two]).toEqual([expect.stringMatching(/^call_\d+_0$/), expect.stringMatching(/^call_\d+_1$/)]);
    messages.push({ role: 'assistant', content: first.choices[0]?.message.content ?? null, tool_calls: calls });
    messages.push({ role: 'tool', tool_call_id: two, content: 'rain' });
    messages.push({ role: 'tool', tool_call_id: one, content: 'hail [fake calls=1]' });
    const second = await chat({ messages, tools: chatTools }, streams);
    expect(second.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [{}] } });
    const history = [
      said('developer', 'Be exact.'),
      said('user', 'How is it? [fake calls=2]'),
      said('assistant', 'You said: How is it? [fake calls=2]'),
      { type: 'function_call', call_id: one, name: offered, arguments: argumentsOf(0) },
      { type: 'function_call', call_id: two, name: offered, arguments: argumentsOf(1) },
      { type: 'function_call_output', call_id: two, output: 'rain' },
      { type: 'function_call_output', call_id: one, output: 'hail [fake calls=1]' },
    ];
    expect(lastInput()).toEqual(history);

    const further = second.choices[0]?.message.tool_calls ?? [];
    const three = further[0]?.id ?? '';
    // More than Codex keeps of results of its own tools.
    const long = 'It is sunny. '.repeat(5_000);
    messages.push({ role: 'assistant', content: null, tool_calls: further });
    messages.push({ role: 'tool', tool_call_id: three, content: long });
    const third = await chat({ messages, tools: chatTools }, streams);
    expect(third.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: `You said: ${long}` } });
    expect(third.usage).toMatchObject({ prompt_tokens: 11, prompt_tokens_details: { cached_tokens: 3 } });
    expect(lastInput().slice(history.length)).toEqual([
      { type: 'function_call', call_id: three, name: offered, arguments: argumentsOf(0) },
      { type: 'function_call_output', call_id: three, output: long },
    ]);
    // One request of the client's is one to the upstream.
    expect(api.calls.length).toBe(before + 3);
  });

  it.each([true, false])('makes three turns with a Responses client (streamed: %s)', async (streams) => {
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'How? [fake calls=2 think]' }];
    const create = (): Promise<OpenAI.Responses.Response> => {
      const body = { model, input, tools: responsesTools, store: false, reasoning: { effort: 'low' as const } };
      return streams ? openai.responses.stream(body).finalResponse() : openai.responses.create(body);
    };
    const answerCalls = (response: OpenAI.Responses.Response, output: string): void => {
      // What an answer has is what the next request may have.
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
      for (const item of response.output) {
        if (item.type === 'function_call') input.push({ type: 'function_call_output', call_id: item.call_id, output });
      }
    };
    const first = await create();
    expect(first.output).toMatchObject([
      { type: 'reasoning' },
      { type: 'message' },
      { type: 'function_call', name, arguments: argumentsOf(0) },
      { type: 'function_call', name, arguments: argumentsOf(1) },
    ]);
    expect(first.usage).toMatchObject({ input_tokens: 11, output_tokens: 6 });
    expect(lastBody()).toMatchObject({ reasoning: { effort: 'low' } });
    answerCalls(first, 'hail [fake calls=1]');
    const second = await create();
    expect(second.output.filter(({ type }) => type === 'function_call')).toHaveLength(1);
    answerCalls(second, 'sunny');
    const third = await create();
    expect(third.output_text).toBe('You said: sunny');
    expect(third.usage).toMatchObject({ input_tokens: 11, output_tokens: 3 });
    expect(lastInput().map((item) => (item as JsonObject)['type'])).toEqual([
      'message',
      'message',
      'function_call',
      'function_call',
      'function_call_output',
      'function_call_output',
      'message',
      'function_call',
      'function_call_output',
    ]);
  });

  it.each([true, false])('makes two turns with a messages client (streamed: %s)', async (streams) => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How? [fake calls=2]' }];
    const ask = (): Promise<Anthropic.Message> => {
      const body = { model, max_tokens: 500, messages, tools: anthropicTools };
      return streams ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
    };
    const first = await ask();
    expect(first).toMatchObject({ stop_reason: 'tool_use', usage: { output_tokens: 5 } });
    expect(first.content).toMatchObject([
      { type: 'text' },
      { type: 'tool_use', name, input: { n: 0, city: 'city 0' } },
      { type: 'tool_use', name, input: { n: 1, city: 'city 1' } },
    ]);
    const results = first.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'sunny' }] : [],
    );
    messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: results });
    const second = await ask();
    expect(second).toMatchObject({ stop_reason: 'end_turn', content: [{ text: 'You said: sunny' }] });
  });

  it('offers long and narrow schemas whole, in the description', async () => {
    const long = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [
        `p${at}`,
        { type: 'integer', description: `The property ${at}`, minimum: at },
      ]),
    );
    const parameters = { type: 'object', properties: long, required: ['p1'] };
    await chat({ messages: [user('Hi')], tools: [{ type: 'function', function: { name: 'f', parameters } }] });
    const [offered] = lastTools();
    expect(offered).toMatchObject({ name: 'f', description: expect.stringContaining(JSON.stringify(parameters)) });
    expect(JSON.stringify(offered?.['parameters'])).toContain('"p99"');
  });

  it('makes one call of several where the client takes no more', async () => {
    const answer = await chat({ messages: [user('[fake calls=3]')], tools: chatTools, parallel_tool_calls: false });
    expect(answer.choices[0]?.message.tool_calls).toMatchObject([{ function: { arguments: argumentsOf(0) } }]);
  });

  it('offers no tools if the choice is none, and refuses to force one, by name', async () => {
    await chat({ messages: [user('Hi')], tools: chatTools, tool_choice: 'none' });
    expect(lastTools()).toEqual([]);
    for (const choice of ['required' as const, { type: 'function' as const, function: { name } }]) {
      const forced = chat({ messages: [user('Hi')], tools: chatTools, tool_choice: choice });
      await expect(forced).rejects.toMatchObject({ status: 400, param: 'tool_choice' });
    }
  });

  it('refuses tools that Codex does not take with its own words', async () => {
    const [tool] = chatTools;
    if (!tool) throw new Error('there is a tool');
    const twice = chat({ messages: [user('Hi')], tools: [tool, tool] });
    await expect(twice).rejects.toMatchObject({ status: 400, param: 'tools', message: expect.stringContaining('dup') });
  });

  it.each([true, false])('answers in the schema that the client gives (streamed: %s)', async (streams) => {
    const format = (strict: boolean) => ({
      type: 'json_schema' as const,
      json_schema: { name: 'answer', schema: answerSchema, strict },
    });
    const answer = await chat({ messages: [user('Hi')], response_format: format(true) }, streams);
    expect(answer.choices[0]?.message.content).toBe('{"said":"yes"}');
    expect(lastBody()['text']).toMatchObject({ format: { type: 'json_schema', schema: answerSchema, strict: true } });
    const loose = chat({ messages: [user('Hi')], response_format: format(false) });
    await expect(loose).rejects.toMatchObject({ status: 400, param: 'response_format.json_schema.strict' });
    const object = chat({ messages: [user('Hi')], response_format: { type: 'json_object' } });
    await expect(object).rejects.toMatchObject({ status: 400, param: 'response_format' });
  });

  it('passes on images, and refuses their addresses by name', async () => {
    const says = (url: string): OpenAI.ChatCompletionMessageParam => ({
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url, detail: 'low' } },
      ],
    });
    const answer = await chat({ messages: [says(png)] });
    expect(answer.choices[0]?.message.content).toBe('You said: What is it?');
    expect(lastInput().at(-1)).toMatchObject({
      content: [{ type: 'input_text' }, { type: 'input_image', image_url: png }],
    });
    const remote = chat({ messages: [says('https://example.com/a.png')] });
    await expect(remote).rejects.toMatchObject({ status: 400, param: 'messages' });
  });

  it('ends a turn with calls so that its process serves the next, and leaves none behind', async () => {
    const before = worker.processes();
    const loops = Array.from({ length: 6 }, () => chat({ messages: [user('[fake calls=2]')], tools: chatTools }, true));
    for (const { choices } of await Promise.all(loops)) expect(choices[0]?.finish_reason).toBe('tool_calls');
    await until(() => worker.processes().length <= before.length, 60_000);
    const [next, calls] = [await chat({ messages: [user('And now?')] }), api.calls.length];
    expect(next.choices[0]?.message.content).toBe('You said: And now?');
    expect(lastInput()).toEqual([said('user', 'And now?')]);
    expect(api.calls.length).toBe(calls);
  });
});

function user(content: string): { role: 'user'; content: string } {
  return { role: 'user', content };
}

/** A message in the Responses format, as Codex sends it. */
function said(role: 'developer' | 'user' | 'assistant', text: string): JsonObject {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }] };
}
