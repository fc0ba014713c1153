import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { demoEngineSettings } from '#services/demo-engine/config.ts';
import { startDemoEngine } from '#services/demo-engine/start-demo-engine.ts';
import { detectEngine } from '#services/gpu-worker/detect-engine.ts';
import { selectEngine } from '#services/gpu-worker/find-engine.ts';
import type { Discovery, EngineKind } from '#services/gpu-worker/engines/engine.ts';
import { startReplayEngine, type ReplayEngine } from '../../../helpers/upstreams/replay-engine.ts';
import { connectEngine, runJob } from '../../../helpers/broker/run-job.ts';
import { listOperations } from '#shared/core/operation.ts';
import { startScriptedEngine } from '../../../helpers/upstreams/start-scripted-engine.ts';
import { assembleCompletion } from '../../../shared/translate/assemble-completion.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';

const hello = { stream: true, messages: [{ role: 'user', content: 'Hello' }] };

interface Case {
  folder: string;
  kind: EngineKind;
  discovery: Discovery;
  /** The answer of the engine's fixture to "Hello". */
  answer?: { content: string; thinking?: string; promptTokens: number };
}

type Models = Discovery['models'];

/** Returns a model that generates, with its context window if it is known. */
function generates(id: string, capabilities: string, contextWindow?: number): Models[number] {
  return {
    id,
    operations: ['generate', 'complete'],
    capabilities: capabilities.split(' ') as Models[number]['capabilities'],
    ...(contextWindow !== undefined && { contextWindow }),
  };
}

const embeds = (id: string, more: object = {}) => ({ id, operations: ['embed' as const], capabilities: [], ...more });
/** Models that LM Studio has beside the one that can call tools. */
const others = [generates('google/gemma-3-4b', 'stream json vision'), embeds('text-embedding-nomic-embed-text-v1.5')];

const cases: Case[] = [
  {
    folder: 'vllm',
    kind: 'vllm',
    discovery: {
      models: [
        generates('Qwen/Qwen3-8B', 'stream tools thinking json continue', 40960),
        generates('Qwen/Qwen2.5-VL-7B-Instruct', 'stream tools vision thinking json continue', 32768),
      ],
      // It reports none.
      slots: 64,
    },
    answer: { content: 'Good day – 你好', thinking: 'The user greets me.', promptTokens: 11 },
  },
  {
    folder: 'sglang',
    kind: 'sglang',
    discovery: { models: [generates('qwen/qwen3-8b', 'stream tools thinking json continue', 40960)], slots: 256 },
    answer: { content: 'Good day', thinking: 'A greeting.', promptTokens: 9 },
  },
  {
    folder: 'ollama',
    kind: 'ollama',
    discovery: {
      models: [
        generates('qwen3:8b', 'stream json tools thinking', 32768),
        generates('gemma3:4b', 'stream json vision'),
        generates('long:latest', 'stream json tools', 65536),
        embeds('nomic-embed-text:latest', { contextWindow: 8192 }),
      ],
    },
    answer: { content: 'Good day', thinking: 'A greeting.', promptTokens: 12 },
  },
  {
    folder: 'lm-studio',
    kind: 'lm-studio',
    discovery: { models: [generates('qwen/qwen3-8b', 'stream json tools thinking', 16384), ...others], slots: 4 },
    answer: { content: 'Good day', thinking: 'A greeting.', promptTokens: 10 },
  },
  {
    folder: 'lm-studio-0.3',
    kind: 'lm-studio',
    discovery: { models: [generates('qwen/qwen3-8b', 'stream json tools', 4096), ...others] },
  },
  {
    folder: 'openai',
    kind: 'openai',
    discovery: {
      models: [
        generates('some-model', 'stream tools thinking json'),
        generates('seeing-model', 'stream tools vision thinking json'),
      ],
    },
    answer: { content: 'Good day', promptTokens: 0 },
  },
];

async function replay(folder: string): Promise<ReplayEngine> {
  return stopAfterTest(await startReplayEngine(`test/fixtures/engines/${folder}`));
}

describe.each(cases)('the engine of $folder', ({ folder, kind, discovery, answer }) => {
  const engine = selectEngine(kind);

  it(`is detected as ${kind}`, async () => {
    expect(await detectEngine(connectEngine(await replay(folder)))).toBe(kind);
  });

  it('reports its models and slots', async () => {
    expect(await engine.discover(connectEngine(await replay(folder)), [])).toEqual(discovery);
  });

  if (answer) {
    it('streams text and thinking, and the last chunk has the usage', async () => {
      const { pieces, end } = await runJob({ engine, url: (await replay(folder)).url }, { body: hello });
      const { content, thinking: reasoning = '', promptTokens } = answer;
      const usage = { total_tokens: expect.anything() as number };
      const whole = { content, reasoning, finishReason: 'stop', usage };
      expect(assembleCompletion(pieces.join(''))).toMatchObject(whole);
      expect(end.finishReason).toBe('stop');
      if (promptTokens) expect(end.usage.promptTokens).toBe(promptTokens);
    });
  }
});

it.each(['ollama', 'lm-studio'] as const)('a model that %s unloads keeps its context window', async (kind) => {
  const http = connectEngine(await replay(kind));
  const { models } = await selectEngine(kind).discover(http, []);
  const unloaded = models.find((model) => model.contextWindow === undefined);
  const before = models.map((model) => (model === unloaded ? { ...model, contextWindow: 8192 } : model));
  expect((await selectEngine(kind).discover(http, before)).models).toEqual(before);
});

describe('the input tokens of a request', () => {
  const body = { messages: [{ role: 'user', content: 'Hello, how many tokens may this be?' }] };

  it.each([
    { folder: 'vllm', tokens: 11 },
    { folder: 'sglang', tokens: 9 },
  ] as const)('are counted by $folder itself', async ({ folder, tokens }) => {
    expect(await count(folder, body)).toBe(tokens);
  });

  it('are counted by our own tokenizer if the engine cannot count', async () => {
    const text = await count('ollama', body);
    expect(text).toBeGreaterThan(8);
    expect(text).toBeLessThan(20);
    const tools = [{ name: 'get_weather', description: 'The weather of a city', input_schema: { type: 'object' } }];
    expect(await count('ollama', { ...body, tools })).toBeGreaterThan(text + 10);
    expect(await count('ollama', { messages: [{ role: 'user', content: '' }] })).toBeGreaterThan(0);
  });

  async function count(kind: EngineKind, body: JsonObject): Promise<number> {
    const server = await replay(kind);
    const engine = selectEngine(kind);
    const job = { body, operation: 'count_tokens', format: 'messages' } as const;
    const { pieces, end } = await runJob({ engine, url: server.url }, job);
    expect(end.usage.promptTokens).toBe(0);
    return JSON.parse(pieces.join('')).input_tokens;
  }
});

it('the demo engine counts like vLLM and sees images', async () => {
  const settings = { ...loadConfig(demoEngineSettings, {}), PORT: 0 };
  const http = connectEngine(stopAfterTest(await startDemoEngine(settings, () => undefined)));
  expect(await detectEngine(http)).toBe('vllm');
  const { models } = await selectEngine('vllm').discover(http, []);
  const everything = 'generate complete embed rank moderate draw redraw speak transcribe translate'.split(' ');
  const capabilities: unknown = expect.arrayContaining(['vision', 'tools']);
  expect(models).toMatchObject([{ id: 'demo', operations: everything, capabilities }]);
});

const badRequest = (message: string): string =>
  JSON.stringify({ error: { message, type: 'BadRequestError', code: 400 } });
const unsupported = badRequest('The model does not support Completions API');
const empty = badRequest('The input is empty.');

it.each<[string, Record<string, [number, string]>, string[]]>([
  [
    'that gives vectors, in older releases',
    { '/v1/completions': [400, unsupported], '/v1/embeddings': [400, empty], '/v1/rerank': [400, empty] },
    ['embed', 'rank'],
  ],
  [
    'that ranks, in newer releases',
    { '/v1/completions': [404, '{"detail":"Not Found"}'], '/v1/embeddings': [404, '{}'], '/v1/rerank': [400, empty] },
    ['rank'],
  ],
  ['that serves conversations and nothing else', {}, ['generate']],
])('the operations of an engine of vLLM %s, are found by probes', async (_, answers, operations) => {
  const engine = await startScriptedEngine((response, { url = '' }) => {
    const models = JSON.stringify({ data: [{ id: 'm', owned_by: 'vllm' }] });
    const [status, body] = answers[url] ?? (url === '/v1/models' ? [200, models] : [404, '{}']);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  const http = connectEngine(stopAfterTest(engine));
  const { models } = await selectEngine('vllm').discover(http, []);
  expect(models.map((model) => [model.id, listOperations(model)])).toEqual([['m', operations]]);
  expect(models[0]?.capabilities.length).toBe(operations.includes('generate') ? 5 : 0);
});

it.each([
  ['vllm', 'Too long', 'context_length_exceeded', '40960'],
  ['sglang', 'Too long', 'context_length_exceeded', '40960'],
  ['lm-studio', 'Refuse this', 'invalid_request', 'response_format.type'],
  ['ollama', 'To nobody', 'upstream_failed', '404'],
] as const)('the refusal of the engine %s becomes an error: %s → %s', async (kind, text, code, message) => {
  const body = { messages: [{ role: 'user', content: text }] };
  await expect(runJob({ engine: selectEngine(kind), url: (await replay(kind)).url }, { body })).rejects.toEqual(
    errorWith(code, { message: expect.stringContaining(message) }),
  );
});

it.each(['vllm', 'ollama'] as const)('parallel tool calls of %s have one index each', async (kind) => {
  const body = { stream: true, messages: [{ role: 'user', content: 'Compare the weather' }] };
  const { pieces, end } = await runJob({ engine: selectEngine(kind), url: (await replay(kind)).url }, { body });
  expect(end.finishReason).toBe('tool_calls');
  const { calls } = assembleCompletion(pieces.join(''));
  expect(calls.map((call) => JSON.parse(call.arguments))).toEqual([{ city: 'Paris' }, { city: 'Rome' }]);
});
