import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { post as postTo } from '../../helpers/clients/keyed-requests.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { startMessagesUpstream, type MessagesAnswer } from '../../helpers/upstreams/start-messages-upstream.ts';
import { startReplayEngine } from '../../helpers/upstreams/replay-engine.ts';
import type { ServiceProcess } from '../../helpers/processes/start-process.ts';
import { customProvider } from '../../helpers/cluster/worker-settings.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { useStarted } from '../../helpers/use-started.ts';

const fixtures = 'test/fixtures/providers';

const claude = useStarted(() => startReplayEngine(`${fixtures}/anthropic`));
const gpt = useStarted(() => startReplayEngine(`${fixtures}/openai`));
/** An upstream whose answers a test decides. */
const custom = useStarted(() =>
  startMessagesUpstream(['session-1', 'limited-1', 'windowed-1'], (_, turn) => answerOf(turn)),
);
let answerOf: (turn: number) => MessagesAnswer;
const cluster = useScriptedCluster();
let claudeWorker: ServiceProcess;
let gptWorker: ServiceProcess;

beforeAll(async () => {
  const provider = (name: string, { url }: { url: string }) => ({ PROVIDER: name, PROVIDER_URL: `${url}/v1` });
  claudeWorker = await cluster.addCloudWorker({ ...provider('anthropic', claude), ANTHROPIC_API_KEY: 'sk-ant-secret' });
  gptWorker = await cluster.addCloudWorker({ ...provider('openai', gpt), OPENAI_API_KEY: 'sk-oai-secret' });
  await cluster.addCloudWorker(customProvider(custom.url, 'messages'));
});

const anthropic = () => new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });
const openai = () => new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  postTo({ ...cluster, path: `/${path}`, body, headers });

const hello = [{ role: 'user' as const, content: 'Hello' }];

/** Sends a request of the messages format. */
const say = (model: string, fields: object = {}) =>
  post('anthropic/v1/messages', { model, max_tokens: 100, messages: hello, ...fields });

const schema = { type: 'object' as const, properties: { city: { type: 'string' } } };
const tool = { name: 'get_weather', input_schema: schema };
const chatTool = { type: 'function' as const, function: { name: 'get_weather', parameters: tool.input_schema } };

/** The outputs of the function calls in an answer. */
const outputsOf = (items: readonly OpenAI.Responses.ResponseOutputItem[], output: string) =>
  items.flatMap((item) =>
    item.type === 'function_call' ? [{ type: 'function_call_output' as const, call_id: item.call_id, output }] : [],
  );

/** Returns a stream's text with the router's changes undone. */
function withUpstreamName(text: string, model: string, upstreamId: string): string {
  expect(text).toContain(`"model":"${model}"`);
  expect(text).not.toContain('"signature":"E');
  return text.replace(/"id":"msg_[0-9a-f]{32}"/, `"id":"${upstreamId}"`).replaceAll(/"rtr\.[\w-]{12}\./g, '"');
}

describe('a messages client on a messages upstream', () => {
  it.each([
    ['think', 'msg_01Kq7vXcN3Zt5WbYp8RfLmDs'],
    ['search', 'msg_01G7hKp2LqWx9TzRn4VbYcMd'],
  ])('gets the stream "%s" byte for byte, except for its id and the marks of signed thinking', async (name, id) => {
    const answer = await say(`claude-${name}`, { stream: true });
    expect(answer.headers.get('x-rtr-tier')).toBe('cloud');
    const raw = readFileSync(`${fixtures}/anthropic/${name}.sse`, 'utf8');
    expect(withUpstreamName(await answer.text(), `claude-${name}`, id)).toBe(raw);
  });

  it('gets an answer unchanged, except for its id and these marks', async () => {
    const answer = await say('claude-think');
    const raw = readFileSync(`${fixtures}/anthropic/whole.json`, 'utf8');
    expect(withUpstreamName(await answer.text(), 'claude-think', 'msg_01Wh0LeAnSwEr00000000000')).toBe(raw);
  });

  it('has its request arrive unchanged: beta headers, cache marks, signatures, server tools, unknown fields', async () => {
    const cache_control = { type: 'ephemeral' };
    const thought = [
      { type: 'thinking', thinking: 'Hm.', signature: 'EqkCsigned==' },
      { type: 'redacted_thinking', data: 'opaque' },
      { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } },
    ];
    const body = {
      model: 'claude-think',
      max_tokens: 4000,
      stream: true,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { ...cache_control, ttl: '1h' } }],
      thinking: { type: 'enabled', budget_tokens: 2048 },
      context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
      tools: [
        { ...tool, cache_control },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
      ],
      messages: [
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', content: thought },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Frogs.', cache_control }] },
      ],
      some_future_field: { deep: [1, 2, { three: null }] },
    };
    const passed = {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'context-management-2025-06-27,interleaved-thinking-2025-05-14',
      'anthropic-some-future-header': 'on',
      'x-claude-code-session-id': 'a-session',
      'x-claude-code-prev-tool-durations': 'Bash=742;Read=9',
    };
    await (await post('anthropic/v1/messages?beta=true', body, { ...passed, cookie: 'session=secret' })).text();
    const seen = claude.seen.at(-1);
    expect(JSON.stringify(seen?.body)).toBe(JSON.stringify(body));
    expect(seen?.headers).toMatchObject({ ...passed, 'x-api-key': 'sk-ant-secret' });
    for (const name of ['cookie', 'authorization']) expect(seen?.headers).not.toHaveProperty(name);
  });

  it('has tokens counted by the upstream', async () => {
    const count = await anthropic().messages.countTokens({ model: 'claude-think', messages: hello, tools: [tool] });
    expect(count.input_tokens).toBe(2095);
  });

  it('gets an error event after the received part of a stream that broke', async () => {
    const text = await (await say('claude-breaks', { stream: true })).text();
    expect(text).toContain('So far so');
    const overloaded =
      /event: error\ndata: \{"type":"error","error":\{"details":null,"type":"overloaded_error"[^\n]*\n\n$/;
    expect(text).toMatch(overloaded);
  });

  it('gets an error as the upstream wrote it, except for the id of the request', async () => {
    const answer = await say('claude-long');
    const raw = JSON.parse(readFileSync(`${fixtures}/anthropic/too-long.json`, 'utf8')) as object;
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ ...raw, request_id: answer.headers.get('request-id') });
  });
});

describe('a session on a messages upstream', () => {
  /** Returns thinking with characters that JSON may write in several ways, and a signature as long as real ones. */
  const thinkingOf = (turn: number) => ({
    type: 'thinking' as const,
    thinking: `Turn ${turn}: <b>“ä” \u2028 / \\ \n 🦡</b>`,
    signature: randomBytes(600).toString('base64'),
  });

  it('gets all thinking back as it was written, signatures included, over 20 turns of the SDK', async () => {
    const written: JsonObject[][] = [];
    answerOf = (turn) => {
      const thinking =
        turn === 7 ? { type: 'redacted_thinking', data: randomBytes(300).toString('base64') } : thinkingOf(turn);
      const rest: JsonObject[] =
        turn % 2 === 0
          ? [{ type: 'tool_use', id: `toolu_${turn}`, name: 'get_weather', input: { city: `City ${turn}` } }]
          : [{ type: 'text', text: `Answer ${turn}.` }];
      written.push([thinking, ...rest]);
      return written.at(-1) ?? [];
    };
    const messages: Anthropic.MessageParam[] = [];
    let called: string[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const content: Anthropic.ContentBlockParam[] = [
        ...called.map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'Frogs.' })),
        { type: 'text', text: `Question ${turn}` },
      ];
      messages.push({ role: 'user', content });
      const asked = { model: 'session-1', max_tokens: 4000, messages, tools: [tool] };
      const { messages: api } = anthropic();
      const answer = await (turn % 3 === 0 ? api.create(asked) : api.stream(asked).finalMessage());
      called = answer.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
      messages.push({ role: 'assistant', content: answer.content });
    }
    const replayed = custom.calls.at(-1)?.body.messages.filter(({ role }) => role === 'assistant');
    expect(replayed?.map(({ content }) => content)).toEqual(written.slice(0, 19));
    for (const block of written.slice(0, 19).flat()) expect(custom.calls.at(-1)?.raw).toContain(JSON.stringify(block));
  });
});

describe('the headers of a messages upstream', () => {
  it.each([true, false])('reach a messages client, but not those of the account (streamed: %s)', async (stream) => {
    const windows = {
      'anthropic-ratelimit-unified-status': 'allowed_warning',
      'anthropic-ratelimit-unified-5h-utilization': '0.93',
    };
    const ofAccount = {
      'anthropic-ratelimit-requests-remaining': '7',
      'anthropic-organization-id': 'org',
      'request-id': 'req_upstream',
      'set-cookie': 'a=b',
    };
    const content = [{ type: 'text', text: 'Hi.' }];
    answerOf = () => ({ content, headers: { ...windows, ...ofAccount } });
    const asked = { model: 'windowed-1', max_tokens: 10, messages: hello, stream };
    const native = await post('anthropic/v1/messages', asked);
    expect(await native.text()).toContain('Hi.');
    const received = Object.fromEntries(native.headers);
    expect(received).toMatchObject(windows);
    for (const [name, value] of Object.entries(ofAccount)) expect(received[name], name).not.toBe(value);
    const translated = await post('openai/v1/chat/completions', asked);
    expect(await translated.text()).toContain('Hi.');
    for (const name of Object.keys(windows)) expect(translated.headers.has(name), name).toBe(false);
  });
});

describe('a chat client on a chat upstream', () => {
  it('keeps log probabilities, service tier and fingerprint, in both directions', async () => {
    const beta = { 'openai-beta': 'some-feature=v1' };
    const likely = { logprobs: true, top_logprobs: 1, service_tier: 'flex' as const };
    const asked = { model: 'gpt-words', messages: hello, stream: true as const, ...likely };
    const stream = await openai().chat.completions.create({ ...asked, max_tokens: 50 }, { headers: beta });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(gpt.seen.at(-1)).toMatchObject({ headers: { authorization: 'Bearer sk-oai-secret', ...beta } });
    const sent = { ...asked, stream_options: { include_usage: true }, max_completion_tokens: 50 };
    expect(gpt.seen.at(-1)?.body).toEqual(sent);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('Hello wörld!');
    const tokens = chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? []).map(({ token }) => token);
    expect(tokens).toEqual(['Hello', ' wörld', '!']);
    const last = chunks.at(-1);
    expect(last).toMatchObject({ service_tier: 'default', system_fingerprint: 'fp_44709d6fcb', model: 'gpt-words' });
    expect(last?.usage).toMatchObject({
      prompt_tokens: 19,
      prompt_tokens_details: { cached_tokens: 16 },
      completion_tokens_details: { reasoning_tokens: 192 },
    });
  });

  it('lists the models of the provider that this API can use', async () => {
    const ids = [];
    for await (const { id } of openai().models.list()) ids.push(id);
    const chatting = ['auto', 'gpt-words', 'gpt-tools', 'gpt-5.1-codex', 'gpt-5-pro', 'claude-think', 'claude-search'];
    expect(ids).toEqual(expect.arrayContaining(chatting));
    expect(ids).toEqual(expect.arrayContaining(['text-embedding-3-small', 'gpt-image-1', 'tts-1', 'whisper-1']));
    expect(ids).not.toContain('claude-gone');
  });

  it('gets overflow with its code', async () => {
    const long = openai().chat.completions.create({ model: 'gpt-long', messages: hello });
    await expect(long).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });
});

describe('a client of one format on an upstream of the other', () => {
  it('gets chat chunks of a messages stream', async () => {
    const asked = { model: 'claude-think', messages: hello, tools: [chatTool], reasoning_effort: 'low' as const };
    const headers = { 'OpenAI-Beta': 'x', 'anthropic-beta': 'y' };
    const completion = await openai().chat.completions.stream(asked, { headers }).finalChatCompletion();
    const calls = ['{"city": "Oslo"}', '{"city": "São Paulo"}'].map((json) => ({ function: { arguments: json } }));
    const message = { content: "I'll look up both cities.", tool_calls: calls };
    expect(completion.choices).toMatchObject([{ message }]);
    expect(completion.usage).toMatchObject({ prompt_tokens: 412 + 128 + 2048, completion_tokens: 187 });
    const seen = claude.seen.at(-1);
    expect(seen?.body).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } });
    expect(seen?.headers).toMatchObject({ 'anthropic-version': '2023-06-01' });
    for (const name of ['openai-beta', 'anthropic-beta']) expect(seen?.headers).not.toHaveProperty(name);
  });

  it('gets a message of a chat stream', async () => {
    const system = [{ type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } }];
    const asked = { model: 'gpt-tools', max_tokens: 100, top_k: 5, system, messages: hello, tools: [tool] };
    const message = await anthropic().messages.stream(asked).finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    expect(message.content).toMatchObject([
      { type: 'tool_use', input: { city: 'Oslo' } },
      { type: 'tool_use', input: { city: 'São Paulo' } },
    ]);
    const messages = [{ role: 'system', content: 'Be brief.' }, ...hello];
    expect(gpt.seen.at(-1)?.body).toMatchObject({ max_completion_tokens: 100, messages });
    expect(gpt.seen.at(-1)?.body).not.toHaveProperty('top_k');
    expect(gpt.seen.at(-1)?.headers).not.toHaveProperty('anthropic-version');
  });

  it('has tokens counted by a tokenizer if the upstream does not count', async () => {
    const { input_tokens: tokens } = await anthropic().messages.countTokens({ model: 'gpt-words', messages: hello });
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThan(20);
  });
});

describe('a model that its provider serves at /responses only', () => {
  const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
  const turn = { model: 'gpt-5.1-codex', max_tokens: 100, tools: [tool], thinking };

  it('answers a chat client', async () => {
    const { model } = turn;
    const asked = { model, messages: hello, tools: [chatTool], reasoning_effort: 'medium' as const, max_tokens: 50 };
    const completion = await openai().chat.completions.stream(asked).finalChatCompletion();
    const calls = [
      { id: 'call_kJ3nLpQ8sT2vXzB5cF7hR9wY', function: { arguments: '{"city":"Oslo"}' } },
      { id: 'call_mN4oMqR9tU3wYaC6dG8iS0xZ', function: { arguments: '{"city":"São Paulo"}' } },
    ];
    expect(completion.choices).toMatchObject([{ finish_reason: 'tool_calls', message: { tool_calls: calls } }]);
    expect(completion.usage).toMatchObject({ prompt_tokens: 412, completion_tokens: 187 });
    const sent = { path: '/v1/responses', headers: { authorization: 'Bearer sk-oai-secret' } };
    expect(gpt.seen.at(-1)).toMatchObject(sent);
    // The rules for chat requests do not apply to it.
    expect(gpt.seen.at(-1)?.body).toEqual({
      model: 'gpt-5.1-codex',
      input: [{ type: 'message', role: 'user', content: 'Hello' }],
      max_output_tokens: 50,
      reasoning: { effort: 'medium' },
      store: false,
      stream: true,
      tools: [{ type: 'function', name: 'get_weather', parameters: schema, strict: false }],
    });
    const { choices } = await openai().chat.completions.create({ model, messages: hello });
    expect(choices[0]?.message.tool_calls).toHaveLength(2);
  });

  it('answers a messages client, which returns its encrypted thinking in the next turn', async () => {
    const converse = (messages: Anthropic.MessageParam[]) =>
      anthropic()
        .messages.stream({ ...turn, messages })
        .finalMessage();
    const message = await converse(hello);
    expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use']);
    const results = message.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'Rain.' }] : [],
    );
    await converse([...hello, { role: 'assistant', content: message.content }, { role: 'user', content: results }]);
    const sent = gpt.seen.at(-1)?.body as { input: object[]; include: string[] };
    expect(sent.include).toEqual(['reasoning.encrypted_content']);
    expect(sent.input[1]).toMatchObject({
      type: 'reasoning',
      id: 'rs_0a1b2c3d4e5f60710001',
      encrypted_content: 'gAAAAABpEncryptedThinking0001==',
    });
    expect(sent.input.at(-1)).toEqual({
      type: 'function_call_output',
      call_id: 'call_mN4oMqR9tU3wYaC6dG8iS0xZ',
      output: 'Rain.',
    });
  });

  it('counts the tokens of a messages request itself', async () => {
    const count = await anthropic().messages.countTokens({ model: 'gpt-5.1-codex', messages: hello, tools: [tool] });
    expect(count.input_tokens).toBe(1234);
    expect(gpt.seen.at(-1)).toMatchObject({ path: '/v1/responses/input_tokens' });
    expect(gpt.seen.at(-1)?.body).not.toHaveProperty('store');
  });
});

describe('a Responses client on a messages upstream', () => {
  const settings = { store: false, include: ['reasoning.encrypted_content' as const] };
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Weather?' }];
  const functions = [
    { type: 'function' as const, name: tool.name, parameters: tool.input_schema, strict: null },
    { type: 'custom' as const, name: 'apply_patch' },
    { type: 'web_search' as const, external_web_access: false },
  ];
  const request = {
    model: 'claude-think',
    instructions: 'Be brief.',
    input,
    tools: functions,
    reasoning: { effort: 'low' as const, summary: 'auto' as const },
    prompt_cache_key: 'conversation-1',
    ...settings,
  };
  const answer = () => openai().responses.stream(request).finalResponse();

  /** Returns the last turns that the upstream received. */
  const turns = () =>
    (claude.seen.at(-1)?.body as { messages?: { role: string; content: JsonObject[] }[] } | undefined)?.messages ?? [];

  it('has its request arrive with thinking, tools and marks for the cache', async () => {
    await answer();
    expect(claude.seen.at(-1)?.body).toEqual({
      model: 'claude-think',
      max_tokens: 32_000,
      stream: true,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Weather?', cache_control: { type: 'ephemeral' } }] }],
      tools: [
        { name: 'get_weather', input_schema: tool.input_schema },
        expect.objectContaining({ name: 'apply_patch' }),
      ],
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    });
  });

  it('cannot give back thinking that another owner got', async () => {
    const { output } = await answer();
    const { raw } = await cluster.addKey({});
    const client = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: raw, maxRetries: 0 });
    const kept = output.filter(({ type }) => type === 'reasoning' || type === 'message');
    await client.responses.create({ ...request, input: [...input, ...kept, ...input] as typeof input });
    expect(turns().map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(turns())).toContain('both cities');
    expect(JSON.stringify(turns())).not.toContain('thinking');
  });

  it('may refer to a stored answer, whose thinking comes back too', async () => {
    const { instructions, tools, model, reasoning } = request;
    const asked = { instructions, tools, model, reasoning };
    const { responses } = openai();
    const { id, output } = await responses.stream({ ...asked, input }).finalResponse();
    const next = { ...asked, previous_response_id: id, input: outputsOf(output, 'Frogs.') };
    expect((await responses.create(next)).output_text).toBe('Forty-two.');
    expect(turns().map(({ content }) => content.map(({ type }) => type))).toEqual([
      ['text'],
      ['thinking', 'text', 'tool_use', 'tool_use'],
      ['tool_result', 'tool_result'],
    ]);
    expect(turns()[1]?.content[0]).toMatchObject({ signature: expect.stringMatching(/^EqkC/) as string });
  });

  it('has the upstream search the web', async () => {
    const search = { type: 'web_search' as const, filters: { allowed_domains: ['example.com'] } };
    const asked = { ...request, model: 'claude-search', tools: [search] };
    const { output, output_text: text } = await openai().responses.stream(asked).finalResponse();
    const action = { type: 'search', query: expect.stringMatching(/./) };
    expect(output).toMatchObject([
      { type: 'web_search_call', status: 'completed', action },
      { type: 'message', status: 'completed' },
    ]);
    expect(text).not.toBe('');
    const tools = [{ type: 'web_search_20250305', name: 'web_search', allowed_domains: ['example.com'] }];
    expect(claude.seen.at(-1)?.body).toMatchObject({ tools });
  });

  it('has its conversation summarized, as one sealed item that stands for it later', async () => {
    const trigger = { type: 'compaction_trigger' as const };
    const { output } = await openai().responses.create({ ...request, input: [...input, trigger] });
    expect(output).toMatchObject([{ type: 'compaction' }]);
    expect(claude.seen.at(-1)?.body).toMatchObject({ tool_choice: { type: 'none' } });
    await openai().responses.create({ ...request, input: [...output, ...input] as typeof input });
    expect(JSON.stringify(turns()[0])).toContain('Forty-two.');
  });

  it('gets a failed response after the received part of a stream that broke', async () => {
    const text = await (await post('openai/v1/responses', { ...request, model: 'claude-breaks', stream: true })).text();
    expect(text).toContain('So far so');
    expect(text).toMatch(/event: response\.failed\ndata: \{[^\n]*"code":"server_is_overloaded"[^\n]*\n\n$/);
  });

  it('has tokens counted by the upstream', async () => {
    const asked = { model: 'claude-think', input, tools: functions };
    expect((await openai().responses.inputTokens.count(asked)).input_tokens).toBe(2095);
  });
});

describe('a Responses client on a Responses upstream', () => {
  const upstreamId = 'resp_0a1b2c3d4e5f60718293a4b5c6d7e8f90123456789abcdef';
  const ask = (model: string, more: object = {}): Promise<Response> => {
    const body = { model, input: 'Hello', stream: true, store: false, ...more };
    return post('openai/v1/responses', body, { 'openai-beta': 'x=v1' });
  };
  const raw = (name: string): string => readFileSync(`${fixtures}/openai-responses/${name}`, 'utf8');
  const asUpstream = (text: string, model: string): string =>
    text
      .replaceAll(/"id":"resp_[0-9a-f]{32}"/g, `"id":"${upstreamId}"`)
      .replaceAll(`"model":"${model}"`, '"model":"gpt-5.1-codex-2026-03-05"')
      .replaceAll(/"encrypted_content":"rtr\.[\w-]{12}\./g, '"encrypted_content":"');

  it('gets a stream byte for byte, except for id, model and the mark of encrypted thinking', async () => {
    const text = await (await ask('gpt-5.1-codex')).text();
    expect(asUpstream(text, 'gpt-5.1-codex')).toBe(raw('tools.sse'));
    expect(new Set(text.match(/resp_[0-9a-f]{32}/g)).size).toBe(1);
    expect(gpt.seen.at(-1)).toMatchObject({ path: '/v1/responses', headers: { 'openai-beta': 'x=v1' } });
  });

  it('gets an answer unchanged, except for id, model and the mark of encrypted thinking', async () => {
    const text = await (await ask('gpt-5.1-codex', { stream: false })).text();
    expect(text).toContain('"encrypted_content":"rtr.');
    const answer = JSON.parse(asUpstream(text, '')) as { id: string };
    const whole = JSON.parse(raw('whole.json')) as object;
    expect(answer).toEqual({ ...whole, id: answer.id, model: 'gpt-5.1-codex' });
    expect(answer.id).toBe(upstreamId);
    expect(text).toMatch(/"id":"resp_[0-9a-f]{32}"/);
  });

  it('has its request arrive unchanged: items, tools, grammars, encrypted thinking, unknown fields', async () => {
    const body = {
      input: [
        { type: 'message', id: 'msg_ef9dacf6-d388-5373-9a76-e5390ea3aa49', role: 'developer', content: 'Be brief.' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Patch it.' }] },
        { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'gAAAAtheirs==' },
        { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin Patch' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'Done.' },
      ],
      tools: [
        { type: 'namespace', name: 'mcp__x', tools: [{ type: 'function', name: 'f', strict: false }] },
        { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
      ],
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'medium', summary: 'auto' },
      client_metadata: { 'x-codex-turn-metadata': '{}' },
      some_future_field: { deep: [1, { two: null }] },
    };
    await (await ask('gpt-5.1-codex', body)).text();
    expect(gpt.seen.at(-1)?.body).toEqual({ model: 'gpt-5.1-codex', stream: true, store: false, ...body });
  });

  it('has tokens counted by the upstream', async () => {
    const count = await openai().responses.inputTokens.count({ model: 'gpt-5.1-codex', input: 'Hello' });
    expect(count).toEqual({ object: 'response.input_tokens', input_tokens: 1234 });
  });

  it('continues a stored response, whose thinking the upstream has encrypted', async () => {
    const request = { model: 'gpt-5.1-codex', input: 'Hello' };
    const first = await openai().responses.create(request);
    expect(first).toMatchObject({ store: true });
    const results = outputsOf(first.output, 'Rain.');
    const next = { ...request, previous_response_id: first.id, input: results };
    const second = await openai().responses.stream(next).finalResponse();
    expect(second.previous_response_id).toBe(first.id);
    const sent = gpt.seen.at(-1)?.body as { input: JsonObject[] };
    expect(sent).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    expect(sent).not.toHaveProperty('previous_response_id');
    const types = first.output.map(({ type }) => type);
    const outputs = ['function_call_output', 'function_call_output'];
    expect(sent.input.map(({ type }) => type)).toEqual(['message', ...types, ...outputs]);
    expect(sent.input[1]).toMatchObject({ encrypted_content: 'gAAAAABpEncryptedThinking0001==' });
  });

  it('continues at another account, which gets no thinking that it could not read', async () => {
    const first = await openai().responses.create({ model: 'gpt-5.1-codex', input: 'Hello', store: false });
    const thinking = first.output.filter(({ type }) => type === 'reasoning');
    expect(thinking).toHaveLength(1);
    const account = { PROVIDER: 'openai', PROVIDER_URL: `${gpt.url}/v1`, PROVIDER_KEY: 'another-account' };
    stopAfterTest(await cluster.addCloudWorker({ ...account, PROVIDER_MODELS: 'gpt-words-elsewhere' }));
    const next = { store: false, input: [...first.output, { role: 'user' as const, content: 'And?' }] } as object;
    const sentTo = async (model: string): Promise<unknown[]> => {
      await (await ask(model, next)).text();
      // There is no recording of the other model, so the worker has tried other paths, too.
      const sent = gpt.seen.findLast(({ path }) => path === '/v1/responses')?.body as { input: JsonObject[] };
      return sent.input;
    };
    const here = await sentTo('gpt-5.1-codex');
    expect(here[0]).toMatchObject({ type: 'reasoning', encrypted_content: 'gAAAAABpEncryptedThinking0001==' });
    expect(await sentTo('gpt-words-elsewhere')).toEqual(here.slice(1));
  });

  it('gets a limit that the upstream reports inside its stream, before any content, as a 429 with the wait', async () => {
    const answer = await ask('gpt-limited');
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await answer.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });
});

describe("a provider that refuses the router's key", () => {
  it('is a failed upstream for clients of both formats, and a log line for the operator without the key', async () => {
    const chat = openai().chat.completions.create({ model: 'gpt-refused', messages: hello });
    await expect(chat).rejects.toMatchObject({ status: 502, code: 'upstream_failed' });
    const message = anthropic().messages.create({ model: 'claude-refused', max_tokens: 10, messages: hello });
    await expect(message).rejects.toMatchObject({ status: 502, type: 'api_error' });
    const line = "OpenAI refuses the router's key: check the variable that holds it";
    expect(await gptWorker.line(line)).toMatchObject({ level: 50, status: 401 });
    await claudeWorker.line("Anthropic refuses the router's key: check the variable that holds it");
    const logs = JSON.stringify([claudeWorker.lines, gptWorker.lines, cluster.ingress.lines]);
    expect(logs).not.toContain('secret');
    expect(logs).not.toContain('sk-abc');
  });
});

describe('a limit of a messages upstream', () => {
  it('reaches the client with status, wording, details and headers, however long the limit lasts', async () => {
    const details = { error_visibility: 'user' };
    const error = { type: 'rate_limit_error', message: 'You have hit your weekly limit.', details };
    const headers = {
      'retry-after': '93.4',
      'x-should-retry': 'false',
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': '1795000000',
    };
    answerOf = () => ({ status: 429, headers, error });
    // It slows its worker down, so there is a single request, at the end.
    const answer = await say('limited-1', { stream: true });
    expect(answer.status).toBe(429);
    expect(await answer.json()).toEqual({ type: 'error', error, request_id: answer.headers.get('request-id') });
    expect(Object.fromEntries(answer.headers)).toMatchObject({ ...headers, 'retry-after': '94' });
  });
});
