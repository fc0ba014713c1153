import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { detectEngine } from '#services/gpu-worker/detect-engine.ts';
import { EngineHttp } from '#services/gpu-worker/engine-http.ts';
import { llamaCpp } from '#services/gpu-worker/engines/llama-cpp.ts';
import { asking, overlong, weatherTool } from '../../../helpers/upstreams/llama-cpp-cases.ts';
import { startReplayEngine } from '../../../helpers/upstreams/replay-engine.ts';
import { runJob } from '../../../helpers/broker/run-job.ts';
import { findLlamaServer, startLlamaServer } from '../../../helpers/upstreams/start-llama-server.ts';
import { until } from '../../../helpers/until.ts';

const program = findLlamaServer();

const engines = [
  { name: 'recorded answers', start: () => startReplayEngine('test/fixtures/engines/llama-cpp'), absent: false },
  {
    name: 'a real llama-server',
    start: () => startLlamaServer(program ?? ''),
    absent: program === undefined,
  },
];

const silent = { reasoning_effort: 'none' };
const tools = { tools: [weatherTool], tool_choice: { type: 'function', function: { name: 'get_weather' } } };

describe.each(engines)('llama.cpp, by $name', ({ start, absent }) => {
  describe.skipIf(absent)('if available', () => {
    let server: Awaited<ReturnType<typeof start>>;
    let http: EngineHttp;
    const run = (body: JsonObject) => runJob({ engine: llamaCpp, url: server.url }, { body });

    beforeAll(async () => {
      server = await start();
      http = new EngineHttp({ url: server.url, connections: 2, connectTimeoutMs: 1000 });
    });

    afterAll(async () => {
      await http.close();
      await server.stop();
    });

    it('is detected', async () => {
      expect(await detectEngine(http)).toBe('llama-cpp');
    });

    it('reports its model, the context of one slot, the capabilities and its slots', async () => {
      expect(await llamaCpp.discover(http, [])).toEqual({
        models: [{ id: 'tiny', capabilities: ['stream', 'json', 'tools', 'thinking'], contextWindow: 8192 }],
        slots: 2,
      });
    });

    it('streams an answer whose last chunk has the finish reason and the usage', async () => {
      const { events, pieces, end } = await run({
        model: 'tiny',
        stream: true,
        max_tokens: 40,
        ...silent,
        messages: asking('Say something.'),
      });
      expect(events[0]).toMatchObject({ model: 'tiny', choices: [{ delta: { role: 'assistant' } }] });
      expect(textOf(events, 'content')).toMatch(/\w+ \w+/);
      expect(textOf(events, 'reasoning_content')).toBe('');
      expect(events.at(-1)).toMatchObject({
        choices: [{ delta: {}, finish_reason: expect.stringMatching(/^(stop|length)$/) }],
        usage: { prompt_tokens: end.usage.promptTokens, completion_tokens: end.usage.completionTokens },
      });
      expect(pieces.at(-1)).toMatch(/data: \[DONE\]\n\n$/);
      expect(end.usage.completionTokens).toBeGreaterThan(0);
    });

    it('answers without a stream', async () => {
      const { pieces } = await run({
        model: 'tiny',
        max_tokens: 40,
        ...silent,
        messages: asking('Say something whole.'),
      });
      expect(JSON.parse(pieces.join(''))).toMatchObject({
        id: expect.stringMatching(/^chatcmpl-/),
        model: 'tiny',
        choices: [{ message: { role: 'assistant', content: expect.stringMatching(/\w/) } }],
        usage: { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number) },
      });
    });

    it('thinks unless the request switches it off', async () => {
      const { events } = await run({
        model: 'tiny',
        stream: true,
        max_tokens: 400,
        messages: asking('Think it over.'),
      });
      expect(textOf(events, 'reasoning_content')).toMatch(/\w+ \w+/);
    });

    it('calls the named tool with JSON arguments', async () => {
      const { events, end } = await run({
        model: 'tiny',
        stream: true,
        max_tokens: 2000,
        ...silent,
        ...tools,
        messages: asking('Call it.'),
      });
      expect(end.finishReason).toBe('tool_calls');
      const calls = events.flatMap((event) => callsOf(event));
      expect(calls[0]).toMatchObject({ index: 0, type: 'function', function: { name: 'get_weather' } });
      const text = calls.map(({ function: { arguments: piece } }) => piece).join('');
      expect(JSON.parse(text)).toMatchObject({ city: expect.stringMatching(/Paris|Rome/), days: expect.any(Number) });
    });

    it('refuses a request that is too long with its token counts', async () => {
      await expect(run({ model: 'tiny', messages: asking(overlong) })).rejects.toMatchObject({
        code: 'context_length_exceeded',
        message: expect.stringContaining('8192'),
      });
    });

    it('counts as many tokens as it then uses', async () => {
      const messages = asking('Say something whole.');
      const body = { model: 'tiny', ...silent, messages };
      const [whole, counted] = await Promise.all([
        run({ ...body, max_tokens: 40 }),
        runJob({ engine: llamaCpp, url: server.url }, { body, operation: 'count_tokens', format: 'messages' }),
      ]);
      expect(JSON.parse(counted.pieces.join(''))).toEqual({ input_tokens: whole.end.usage.promptTokens });
    });
  });
});

describe.skipIf(program === undefined)('a real llama-server', () => {
  it('stops generating when the job is aborted', async () => {
    const server = await startLlamaServer(program ?? '');
    const http = new EngineHttp({ url: server.url, connections: 2, connectTimeoutMs: 1000 });
    try {
      const client = new AbortController();
      const body = { model: 'tiny', stream: true, ignore_eos: true, messages: asking('Go on for ever.') };
      const running = runJob({ engine: llamaCpp, url: server.url, http }, { body }, client.signal, () => {
        client.abort(new Error('the client is gone'));
      });
      await expect(running).rejects.toThrow('the client is gone');
      await until(async () => expect(await busySlots(server.url)).toBe(0), 1000);
    } finally {
      await http.close();
      await server.stop();
    }
  });
});

async function busySlots(url: string): Promise<number> {
  const slots = (await (await fetch(`${url}/slots`)).json()) as { is_processing: boolean }[];
  return slots.filter((slot) => slot.is_processing).length;
}

interface Chunk {
  choices: { delta: Record<'content' | 'reasoning_content', string | null> & { tool_calls?: Call[] } }[];
}

interface Call {
  index: number;
  type?: string;
  function: { name?: string; arguments: string };
}

function textOf(events: JsonObject[], field: 'content' | 'reasoning_content'): string {
  return events.map((event) => (event as unknown as Chunk).choices[0]?.delta[field] ?? '').join('');
}

function callsOf(event: JsonObject): Call[] {
  return (event as unknown as Chunk).choices[0]?.delta.tool_calls ?? [];
}
