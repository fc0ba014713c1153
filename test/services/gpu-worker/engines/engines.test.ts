import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { demoEngineSettings } from '#services/demo-engine/config.ts';
import { startDemoEngine } from '#services/demo-engine/start-demo-engine.ts';
import { detectEngine } from '#services/gpu-worker/detect-engine.ts';
import { EngineHttp } from '#services/gpu-worker/engine-http.ts';
import { engineOf } from '#services/gpu-worker/engines/engine-of.ts';
import type { Discovery, EngineKind } from '#services/gpu-worker/engines/engine.ts';
import { startReplayEngine, type ReplayEngine } from '../../../helpers/upstreams/replay-engine.ts';
import { runJob } from '../../../helpers/broker/run-job.ts';

const hello = { stream: true, messages: [{ role: 'user', content: 'Hello' }] };

interface Case {
  folder: string;
  kind: EngineKind;
  discovery: Discovery;
  /** What the engine's fixture answers to "Hello". */
  answer?: { content: string; thinking?: string; promptTokens: number };
}

const cases: Case[] = [
  {
    folder: 'vllm',
    kind: 'vllm',
    discovery: {
      models: [
        { id: 'Qwen/Qwen3-8B', capabilities: ['stream', 'tools', 'thinking', 'json'], contextWindow: 40960 },
        {
          id: 'Qwen/Qwen2.5-VL-7B-Instruct',
          capabilities: ['stream', 'tools', 'vision', 'thinking', 'json'],
          contextWindow: 32768,
        },
      ],
    },
    answer: { content: 'Good day – 你好', thinking: 'The user greets me.', promptTokens: 11 },
  },
  {
    folder: 'sglang',
    kind: 'sglang',
    discovery: {
      models: [{ id: 'qwen/qwen3-8b', capabilities: ['stream', 'tools', 'thinking', 'json'], contextWindow: 40960 }],
      slots: 256,
    },
    answer: { content: 'Good day', thinking: 'A greeting.', promptTokens: 9 },
  },
  {
    folder: 'ollama',
    kind: 'ollama',
    discovery: {
      models: [
        { id: 'qwen3:8b', capabilities: ['stream', 'json', 'tools', 'thinking'], contextWindow: 32768 },
        { id: 'gemma3:4b', capabilities: ['stream', 'json', 'vision'] },
        { id: 'long:latest', capabilities: ['stream', 'json', 'tools'], contextWindow: 65536 },
      ],
    },
    answer: { content: 'Good day', thinking: 'A greeting.', promptTokens: 12 },
  },
  {
    folder: 'lm-studio',
    kind: 'lm-studio',
    discovery: {
      models: [
        { id: 'qwen/qwen3-8b', capabilities: ['stream', 'json', 'tools', 'thinking'], contextWindow: 16384 },
        { id: 'google/gemma-3-4b', capabilities: ['stream', 'json', 'vision'] },
      ],
      slots: 4,
    },
    answer: { content: 'Good day', thinking: 'A greeting.', promptTokens: 10 },
  },
  {
    folder: 'lm-studio-0.3',
    kind: 'lm-studio',
    discovery: {
      models: [
        { id: 'qwen/qwen3-8b', capabilities: ['stream', 'json', 'tools'], contextWindow: 4096 },
        { id: 'google/gemma-3-4b', capabilities: ['stream', 'json', 'vision'] },
      ],
    },
  },
  {
    folder: 'openai',
    kind: 'openai',
    discovery: {
      models: [
        { id: 'some-model', capabilities: ['stream', 'tools', 'thinking', 'json'] },
        { id: 'seeing-model', capabilities: ['stream', 'tools', 'vision', 'thinking', 'json'] },
      ],
    },
    answer: { content: 'Good day', promptTokens: 0 },
  },
];

describe.each(cases)('the engine of $folder', ({ folder, kind, discovery, answer }) => {
  let server: ReplayEngine;
  let http: EngineHttp;
  const engine = engineOf(kind);

  beforeAll(async () => {
    server = await startReplayEngine(`test/fixtures/engines/${folder}`);
    http = new EngineHttp({ url: server.url, connections: 2, connectTimeoutMs: 1000 });
  });

  afterAll(async () => {
    await http.close();
    await server.stop();
  });

  it(`is detected as ${kind}`, async () => {
    expect(await detectEngine(http)).toBe(kind);
  });

  it('reports its models and slots', async () => {
    expect(await engine.discover(http, [])).toEqual(discovery);
  });

  it.skipIf(answer === undefined)('streams text and thinking, and the last chunk has the usage', async () => {
    const { events, end } = await runJob({ engine, url: server.url }, { body: hello });
    expect(join(events, 'content')).toBe(answer?.content);
    expect(join(events, 'reasoning_content')).toBe(answer?.thinking ?? '');
    expect(end.finishReason).toBe('stop');
    if (answer?.promptTokens) expect(end.usage.promptTokens).toBe(answer.promptTokens);
    expect(events.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: 'stop' }], usage: expect.anything() });
  });
});

describe('an engine that unloads a model', () => {
  it.each(['ollama', 'lm-studio'] as const)('%s: keeps the context window that the model had', async (kind) => {
    const server = await startReplayEngine(`test/fixtures/engines/${kind}`);
    const http = new EngineHttp({ url: server.url, connections: 2, connectTimeoutMs: 1000 });
    try {
      const { models } = await engineOf(kind).discover(http, []);
      const unloaded = models.find((model) => model.contextWindow === undefined);
      const before = models.map((model) => (model === unloaded ? { ...model, contextWindow: 8192 } : model));
      expect((await engineOf(kind).discover(http, before)).models).toEqual(before);
    } finally {
      await http.close();
      await server.stop();
    }
  });
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
    const server = await startReplayEngine(`test/fixtures/engines/${kind}`);
    try {
      const engine = engineOf(kind);
      const job = { body, operation: 'count_tokens', format: 'messages' } as const;
      const { pieces, end } = await runJob({ engine, url: server.url }, job);
      expect(end.usage.promptTokens).toBe(0);
      return JSON.parse(pieces.join('')).input_tokens;
    } finally {
      await server.stop();
    }
  }
});

describe('the demo engine', () => {
  it('counts like vLLM and sees images', async () => {
    const demo = await startDemoEngine({ ...loadConfig(demoEngineSettings, {}), PORT: 0 }, () => undefined);
    const http = new EngineHttp({ url: demo.url, connections: 2, connectTimeoutMs: 1000 });
    try {
      expect(await detectEngine(http)).toBe('vllm');
      const { models } = await engineOf('vllm').discover(http, []);
      expect(models).toMatchObject([{ id: 'demo', capabilities: expect.arrayContaining(['vision', 'tools']) }]);
    } finally {
      await http.close();
      await demo.close();
    }
  });
});

describe('the refusal of an engine', () => {
  const refusals = [
    { folder: 'vllm', text: 'Too long', code: 'context_length_exceeded', message: '40960' },
    { folder: 'sglang', text: 'Too long', code: 'context_length_exceeded', message: '40960' },
    { folder: 'lm-studio', text: 'Refuse this', code: 'invalid_request', message: 'response_format.type' },
    { folder: 'ollama', text: 'To nobody', code: 'upstream_failed', message: '404' },
  ] as const;

  it.each(refusals)('$folder: $text → $code', async ({ folder, text, code, message }) => {
    const server = await startReplayEngine(`test/fixtures/engines/${folder}`);
    const body = { messages: [{ role: 'user', content: text }] };
    try {
      await expect(runJob({ engine: engineOf(folder), url: server.url }, { body })).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      });
    } finally {
      await server.stop();
    }
  });
});

describe.each(['vllm', 'ollama'] as const)('parallel tool calls of %s', (kind) => {
  it('have one index each, however the engine numbers them', async () => {
    const server = await startReplayEngine(`test/fixtures/engines/${kind}`);
    const body = { stream: true, messages: [{ role: 'user', content: 'Compare the weather' }] };
    try {
      const { events, end } = await runJob({ engine: engineOf(kind), url: server.url }, { body });
      expect(end.finishReason).toBe('tool_calls');
      const args: string[] = [];
      for (const event of events) {
        for (const call of deltaOf(event)?.tool_calls ?? []) {
          args[call.index] = (args[call.index] ?? '') + (call.function.arguments ?? '');
        }
      }
      expect(args.map((text) => JSON.parse(text))).toEqual([{ city: 'Paris' }, { city: 'Rome' }]);
    } finally {
      await server.stop();
    }
  });
});

interface Delta {
  content?: string | null;
  reasoning_content?: string | null;
  tool_calls?: { index: number; function: { arguments?: string } }[];
}

function deltaOf(event: JsonObject): Delta | undefined {
  return (event as unknown as { choices: { delta: Delta }[] }).choices[0]?.delta;
}

function join(events: JsonObject[], field: 'content' | 'reasoning_content'): string {
  return events.map((event) => deltaOf(event)?.[field] ?? '').join('');
}
