import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { clientTool, openRealCli, pixelData, user, type OpenedCli } from '../helpers/clis/open-real-cli.ts';

const schema = {
  type: 'object' as const,
  properties: { n: { type: 'integer' }, city: { type: 'string', description: 'A city' } },
  required: ['city'],
  additionalProperties: false,
};
/** A name that Codex keeps for itself. */
const name = 'mcp__weather__get';
const tools = clientTool(name, schema);
const answerSchema = {
  type: 'object',
  properties: { said: { type: 'string', minLength: 1 } },
  required: ['said'],
  additionalProperties: false,
};
const png = `data:image/png;base64,${pixelData}`;

/** Arguments as the fake upstream writes them. */
const argumentsOf = (n: number): string => `{"n" : ${n},"city" : "city ${n}"}`;

describe('tools of clients on Codex', { tags: ['codex'] }, () => {
  let opened: OpenedCli;
  beforeAll(async () => {
    opened = await openRealCli('codex');
  }, 300_000);
  afterAll(() => opened?.stop());

  /** The input of the last request to the upstream, without the ids and marks of Codex. */
  function lastInput(): Json[] {
    const { input } = opened.lastBody();
    return (Array.isArray(input) ? input : []).map((item) => {
      const { id: _, internal_chat_message_metadata_passthrough: __, ...rest } = item as JsonObject;
      return rest;
    });
  }

  /** The client's tools in the last request to the upstream. */
  function lastTools(): JsonObject[] {
    const { tools } = opened.lastBody();
    return (Array.isArray(tools) ? tools : [])
      .filter(isJsonObject)
      .filter((tool) => tool['name'] !== 'request_user_input');
  }

  it('makes three turns with a chat client, streamed and whole', async () => {
    const before = opened.api.calls.length;
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'Be exact.' },
      user('How is it? [fake calls=2]'),
    ];
    const first = await opened.chat({ messages, tools: tools.chat });
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
      { type: 'function', name: expect.any(String), description: tools.description, parameters: schema, strict: false },
    ]);
    const offered = lastTools()[0]?.['name'] ?? null;

    const calls = first.choices[0]?.message.tool_calls ?? [];
    const [one = '', two = ''] = calls.map(({ id }) => id);
    expect([one, two]).toEqual([expect.stringMatching(/^call_\d+_0$/), expect.stringMatching(/^call_\d+_1$/)]);
    messages.push({ role: 'assistant', content: first.choices[0]?.message.content ?? null, tool_calls: calls });
    messages.push({ role: 'tool', tool_call_id: two, content: 'rain' });
    messages.push({ role: 'tool', tool_call_id: one, content: 'hail [fake calls=1]' });
    const second = await opened.chat({ messages, tools: tools.chat }, false);
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
    const third = await opened.chat({ messages, tools: tools.chat });
    expect(third.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: `You said: ${long}` } });
    expect(third.usage).toMatchObject({ prompt_tokens: 11, prompt_tokens_details: { cached_tokens: 3 } });
    expect(lastInput().slice(history.length)).toEqual([
      { type: 'function_call', call_id: three, name: offered, arguments: argumentsOf(0) },
      { type: 'function_call_output', call_id: three, output: long },
    ]);
    // One request of the client's is one to the upstream.
    expect(opened.api.calls.length).toBe(before + 3);
  });

  it('makes three turns with a Responses client, whole and streamed', async () => {
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'How? [fake calls=2 think]' }];
    const create = (streams: boolean): Promise<OpenAI.Responses.Response> => {
      const { openai, model } = opened;
      const body = { model, input, tools: tools.responses, store: false, reasoning: { effort: 'low' as const } };
      return streams ? openai.responses.stream(body).finalResponse() : openai.responses.create(body);
    };
    const answerCalls = (response: OpenAI.Responses.Response, output: string): void => {
      // What an answer has is what the next request may have.
      input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
      for (const item of response.output) {
        if (item.type === 'function_call') input.push({ type: 'function_call_output', call_id: item.call_id, output });
      }
    };
    const first = await create(false);
    expect(first.output).toMatchObject([
      { type: 'reasoning' },
      { type: 'message' },
      { type: 'function_call', name, arguments: argumentsOf(0) },
      { type: 'function_call', name, arguments: argumentsOf(1) },
    ]);
    expect(first.usage).toMatchObject({ input_tokens: 11, output_tokens: 6 });
    expect(opened.lastBody()).toMatchObject({ reasoning: { effort: 'low' } });
    answerCalls(first, 'hail [fake calls=1]');
    const second = await create(true);
    expect(second.output.filter(({ type }) => type === 'function_call')).toHaveLength(1);
    answerCalls(second, 'sunny');
    const third = await create(false);
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

  it('offers long and narrow schemas whole, in the description', async () => {
    const long = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [
        `p${at}`,
        { type: 'integer', description: `The property ${at}`, minimum: at },
      ]),
    );
    const parameters = { type: 'object', properties: long, required: ['p1'] };
    await opened.chat({ messages: [user('Hi')], tools: [{ type: 'function', function: { name: 'f', parameters } }] });
    const [offered] = lastTools();
    expect(offered).toMatchObject({ name: 'f', description: expect.stringContaining(JSON.stringify(parameters)) });
    expect(JSON.stringify(offered?.['parameters'])).toContain('"p99"');
  });

  it('offers no tools if the choice is none', async () => {
    await opened.chat({ messages: [user('Hi')], tools: tools.chat, tool_choice: 'none' });
    expect(lastTools()).toEqual([]);
  });

  it('refuses tools that Codex does not take with its own words', async () => {
    const [tool] = tools.chat;
    if (!tool) throw new Error('there is a tool');
    const twice = opened.chat({ messages: [user('Hi')], tools: [tool, tool] });
    await expect(twice).rejects.toMatchObject({ status: 400, param: 'tools', message: expect.stringContaining('dup') });
  });

  it('answers in the schema that the client gives', async () => {
    const format = (strict: boolean) => ({
      type: 'json_schema' as const,
      json_schema: { name: 'answer', schema: answerSchema, strict },
    });
    const answer = await opened.chat({ messages: [user('Hi')], response_format: format(true) });
    expect(answer.choices[0]?.message.content).toBe('{"said":"yes"}');
    expect(opened.lastBody()['text']).toMatchObject({
      format: { type: 'json_schema', schema: answerSchema, strict: true },
    });
    const loose = opened.chat({ messages: [user('Hi')], response_format: format(false) });
    await expect(loose).rejects.toMatchObject({ status: 400, param: 'response_format.json_schema.strict' });
    const object = opened.chat({ messages: [user('Hi')], response_format: { type: 'json_object' } });
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
    const answer = await opened.chat({ messages: [says(png)] });
    expect(answer.choices[0]?.message.content).toBe('You said: What is it?');
    expect(lastInput().at(-1)).toMatchObject({
      content: [{ type: 'input_text' }, { type: 'input_image', image_url: png }],
    });
    const remote = opened.chat({ messages: [says('https://example.com/a.png')] });
    await expect(remote).rejects.toMatchObject({ status: 400, param: 'messages' });
  });
});

/** A message in the Responses format, as Codex sends it. */
function said(role: 'developer' | 'user' | 'assistant', text: string): JsonObject {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }] };
}
