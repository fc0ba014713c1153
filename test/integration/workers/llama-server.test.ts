// @module-tag llama-server
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { findLlamaServer, startLlamaServer } from '../../helpers/upstreams/start-llama-server.ts';
import { startMessagesUpstream } from '../../helpers/upstreams/start-messages-upstream.ts';
import { least } from '../../helpers/least.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const server = useStarted(() => startLlamaServer(findLlamaServer() ?? ''));
const cluster = useScriptedCluster();

const openai = () => new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });

function ask(body: object, signal?: AbortSignal): Promise<Response> {
  const asked = { model: 'auto', messages: [{ role: 'user', content: 'Hello' }], ...body };
  return post({ ...cluster, body: asked, ...(signal && { signal }) });
}

const file = { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' } };

describe('a cluster on a real llama-server', () => {
  useStarted(() => cluster.addWorker({ ENGINE_URL: server.url }));

  it('serves messages clients, with the same token count before and after', async () => {
    const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } }];
    const question = { model: 'tiny', system: 'Be brief.', messages: [{ role: 'user', content: 'Hello' }], tools };
    const send = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const answer = await post({ ...cluster, path: `/anthropic/v1/messages${path}`, body });
      return (await answer.json()) as Record<string, unknown>;
    };
    const { input_tokens } = await send('/count_tokens', question);
    expect(input_tokens).toBeGreaterThan(20);
    const message = { type: 'message', model: 'tiny', usage: { input_tokens } };
    expect(await send('', { ...question, max_tokens: 30 })).toMatchObject(message);
    const turns = [
      ...question.messages.map(({ content }) => ({ role: 'user' as const, content })),
      { role: 'assistant' as const, content: 'Well — ' },
      { role: 'user' as const, content: 'And then? '.repeat(40) },
    ];
    for (const messages of [turns.slice(0, 1), turns]) {
      const asked = { ...question, messages, tools: [tools[0] as Anthropic.Tool] };
      const { input_tokens: exact } = await anthropic().messages.countTokens(asked);
      const events: Anthropic.MessageStreamEvent[] = [];
      const stream = await anthropic().messages.create({ ...asked, max_tokens: 5, stream: true });
      for await (const event of stream) events.push(event);
      expect(events[0]).toMatchObject({ type: 'message_start', message: { usage: { input_tokens: exact } } });
    }
  });

  it('gives several choices, streamed and whole, and `auto` asks no agent for them', async () => {
    stopAfterTest(await cluster.addCliWorker());
    const settings = { n: 2, max_tokens: 12, temperature: 1, reasoning_effort: 'none' as const };
    const asked = { model: 'auto', ...settings, messages: [{ role: 'user' as const, content: 'Hello' }] };
    for (const answer of [
      await openai().chat.completions.create(asked),
      await openai().chat.completions.stream(asked).finalChatCompletion(),
    ]) {
      expect(answer.model).toBe('tiny');
      expect(answer.choices.map(({ index }) => index)).toEqual([0, 1]);
      const [one, other] = answer.choices.map(({ message }) => message.content);
      for (const text of [one, other]) expect(text).toMatch(/\w/);
      expect(other).not.toBe(one);
      expect(answer.usage?.completion_tokens).toBeGreaterThan(12);
    }
    const refused = await ask({ model: 'm1', n: 2 });
    expect(await refused.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'n' } });
    expect(refused.status).toBe(400);
  });

  it('reports in its own words that its model takes no images or sounds', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
    const sound = { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } };
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

  it('is not chosen by `auto` for files, which it refuses, if another worker takes them', async () => {
    const far = stopAfterTest(await startMessagesUpstream(['far'], () => [{ type: 'text', text: 'Read.' }]));
    const provider = { PROVIDER: 'anthropic', PROVIDER_URL: `${far.url}/v1`, PROVIDER_KEY: 'none' };
    stopAfterTest(await cluster.addCloudWorker(provider));
    const tierOf = async (body: object): Promise<string | null> => {
      const answer = await ask({ ...body, max_tokens: 5 });
      await answer.text();
      return answer.headers.get('x-rtr-tier');
    };
    expect(await tierOf({})).toBe('gpu');
    expect(await tierOf({ messages: [{ role: 'user', content: [file] }] })).toBe('cloud');
  });

  it('answers, and frees the engine within a second after its client has left', async () => {
    const answer = await ask({ max_tokens: 20, reasoning_effort: 'none' });
    expect(await answer.json()).toMatchObject({ model: 'tiny', usage: { completion_tokens: expect.any(Number) } });

    const asked = { model: 'auto', input: 'Hello', max_output_tokens: 20, top_logprobs: 2, store: false };
    const include = ['message.output_text.logprobs' as const];
    const likely = { ...asked, include, reasoning: { effort: 'none' as const } };
    for (const response of [
      await openai().responses.create(likely),
      await openai().responses.stream(likely).finalResponse(),
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

    const free = async (): Promise<number> => {
      const client = new AbortController();
      const stream = await ask({ stream: true, ignore_eos: true }, client.signal);
      await stream.body?.getReader().read();
      client.abort();
      const leftAt = performance.now();
      await until(async () => !(await (await fetch(`${server.url}/slots`)).text()).includes('"is_processing":true'));
      return performance.now() - leftAt;
    };
    expect(await least(free, 1_000)).toBeLessThan(1_000);
  });
});

const question = 'Call it 1.';
const messages = [{ role: 'user' as const, content: question }];
/** The grammar leaves a model with random weights no choice. */
const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string', enum: ['Paris'] }, days: { type: 'integer', enum: [1] } },
  required: ['city', 'days'],
};
const called = { city: 'Paris', days: 1 };
/** llama-server reads this field in addition to those of the format. */
const silent = { chat_template_kwargs: { enable_thinking: false } };

describe("a real llama-server's /v1/responses", () => {
  beforeAll(async () => {
    const provider = { PROVIDER: 'custom', PROVIDER_FORMAT: 'responses', PROVIDER_URL: `${server.url}/v1` };
    await cluster.addCloudWorker(provider);
  });

  it('calls a tool for a chat client', async () => {
    const runner = openai().chat.completions.stream({
      model: 'tiny',
      messages,
      max_tokens: 2000,
      tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
      tool_choice: 'required',
      seed: 7,
    });
    const { choices, usage } = await runner.finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    const [call] = choices[0]?.message.tool_calls ?? [];
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual(called);
    expect(usage?.prompt_tokens).toBeGreaterThan(50);
  });

  it('calls a tool for a messages client, and takes the result', async () => {
    const request = {
      model: 'tiny',
      max_tokens: 2000,
      tools: [{ name: 'get_weather', input_schema: parameters }],
      tool_choice: { type: 'any' as const },
    };
    const stream = anthropic().messages.stream({ ...request, messages });
    const message = await stream.finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    const call = message.content.find((block) => block.type === 'tool_use');
    expect(call?.input).toEqual(called);
    const turns: Anthropic.MessageParam[] = [
      ...messages,
      { role: 'assistant', content: message.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'Rain.' }] },
    ];
    const next = { ...request, max_tokens: 8, tool_choice: { type: 'none' as const }, messages: turns };
    const answer = await anthropic().messages.create(next);
    expect(answer).toMatchObject({ type: 'message', usage: { output_tokens: 8 } });
  });

  it('counts the tokens of a messages request', async () => {
    const counted = await anthropic().messages.countTokens({ model: 'tiny', messages });
    const answer = await anthropic().messages.create({ model: 'tiny', messages, max_tokens: 4 });
    const { input_tokens: fresh, cache_read_input_tokens: cached } = answer.usage;
    expect(counted.input_tokens).toBe(fresh + (cached ?? 0));
  });

  it("streams to the official SDK, whose accumulator needs what llama-server's events lack", async () => {
    const runner = openai().responses.stream({
      model: 'tiny',
      input: question,
      max_output_tokens: 2000,
      tools: [{ type: 'function', name: 'get_weather', parameters, strict: false }],
      tool_choice: 'required',
      store: false,
    });
    const types: string[] = [];
    for await (const { type } of runner) types.push(type);
    const response = await runner.finalResponse();
    expect(response).toMatchObject({ object: 'response', status: 'completed', model: 'tiny', store: false });
    const call = response.output.find((item) => item.type === 'function_call');
    expect(JSON.parse(call?.arguments ?? '')).toEqual(called);
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
    expect(types.at(-1)).toBe('response.completed');

    const next = await openai().responses.create({
      model: 'tiny',
      max_output_tokens: 8,
      store: false,
      input: [
        { role: 'user', content: question },
        ...response.output.filter((item) => item.type === 'function_call' || item.type === 'reasoning'),
        { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'Rain.' },
      ],
    });
    expect(next).toMatchObject({ status: 'completed', usage: { output_tokens: 8 }, tools: [] });
  });

  it('counts the tokens of a Responses request', async () => {
    const { input_tokens: tokens } = await openai().responses.inputTokens.count({ model: 'tiny', input: question });
    const answer = await openai().responses.create({ model: 'tiny', input: question, max_output_tokens: 4 });
    expect(answer.usage?.input_tokens).toBe(tokens);
  });

  it('compacts a conversation, which llama-server itself cannot, and continues with it', async () => {
    const request = { model: 'tiny', store: false, max_output_tokens: 60, ...silent };
    const said = { role: 'user' as const, content: question };
    const trigger = { type: 'compaction_trigger' as const };
    const stream = openai().responses.stream({ ...request, input: [said, trigger] });
    const { output } = await stream.finalResponse();
    expect(output).toMatchObject([{ type: 'compaction', encrypted_content: expect.any(String) as string }]);
    const whole = await openai().responses.create({ ...request, input: [said, trigger] });
    expect(whole.output.map(({ type }) => type)).toEqual(['compaction']);
    const [item] = output;
    const next = await openai().responses.create({
      ...request,
      input: [item as OpenAI.Responses.ResponseCompactionItemParam, { role: 'user', content: 'Go on.' }],
    });
    expect(next.status).toBe('completed');
    expect(next.usage?.input_tokens).toBeGreaterThan(40);
  });
});
