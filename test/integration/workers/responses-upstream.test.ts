import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { findLlamaServer, startLlamaServer, type LlamaServer } from '../../helpers/upstreams/start-llama-server.ts';

const program = findLlamaServer();

let server: LlamaServer;
let cluster: Cluster;

beforeAll(async () => {
  if (program === undefined) return;
  server = await startLlamaServer(program);
  cluster = await startCluster({ engineUrl: 'http://127.0.0.1:1', workers: 0 });
  await cluster.addCloudWorker({
    PROVIDER: 'custom',
    PROVIDER_FORMAT: 'responses',
    PROVIDER_URL: `${server.url}/v1`,
  });
});
afterAll(async () => {
  await cluster?.stop();
  await server?.stop();
});

const openai = () => new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });

const question = 'Call it 1.';
const messages = [{ role: 'user' as const, content: question }];
/** Its grammar leaves a model with random weights no choice. */
const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string', enum: ['Paris'] }, days: { type: 'integer', enum: [1] } },
  required: ['city', 'days'],
};
const called = { city: 'Paris', days: 1 };
/** llama-server reads this field beside those of the format. */
const silent = { chat_template_kwargs: { enable_thinking: false } };

describe.skipIf(program === undefined)("a real llama-server's /v1/responses", () => {
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
    const message = await anthropic()
      .messages.stream({ ...request, messages })
      .finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    const call = message.content.find((block) => block.type === 'tool_use');
    expect(call?.input).toEqual(called);
    const answer = await anthropic().messages.create({
      ...request,
      max_tokens: 8,
      tool_choice: { type: 'none' },
      messages: [
        ...messages,
        { role: 'assistant', content: message.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'Rain.' }] },
      ],
    });
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

  it('compacts a conversation, which llama-server cannot itself, and goes on with it', async () => {
    const request = { model: 'tiny', store: false, max_output_tokens: 60, ...silent };
    const said = { role: 'user' as const, content: question };
    const trigger = { type: 'compaction_trigger' as const };
    const { output } = await openai()
      .responses.stream({ ...request, input: [said, trigger] })
      .finalResponse();
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
