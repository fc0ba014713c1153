import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { detectEngine } from '#services/gpu-worker/detect-engine.ts';
import { llamaCpp } from '#services/gpu-worker/engines/llama-cpp.ts';
import { asking, overlong, weatherTool } from '../../../helpers/upstreams/llama-cpp-cases.ts';
import { startReplayEngine } from '../../../helpers/upstreams/replay-engine.ts';
import { connectEngine, runJob } from '../../../helpers/broker/run-job.ts';
import { makeGguf } from '../../../helpers/upstreams/make-gguf.ts';
import { makeRankingGguf } from '../../../helpers/upstreams/make-ranking-gguf.ts';
import { findLlamaServer, startLlamaServer } from '../../../helpers/upstreams/start-llama-server.ts';
import type { Operation } from '#shared/core/operation.ts';
import { assembleCompletion } from '../../../shared/translate/assemble-completion.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const startReal = (options?: Parameters<typeof startLlamaServer>[1]) =>
  startLlamaServer(findLlamaServer() ?? '', options);

const silent = { reasoning_effort: 'none' };
const tools = { tools: [weatherTool], tool_choice: { type: 'function', function: { name: 'get_weather' } } };

const engines = [
  { name: 'recorded answers', start: () => startReplayEngine('test/fixtures/engines/llama-cpp'), tags: [] },
  { name: 'a real llama-server', start: () => startReal(), tags: ['llama-server'] },
];

for (const { name, start, tags } of engines) {
  describe(`llama.cpp, by ${name}`, { tags }, () => {
    const server = useStarted<{ url: string }>(start);
    const run = (text: string, fields: JsonObject = {}) => {
      const body = { model: 'tiny', max_tokens: 40, messages: asking(text), ...fields };
      return runJob({ engine: llamaCpp, url: server.url }, { body });
    };

    it('is detected', async () => {
      expect(await detectEngine(connectEngine(server))).toBe('llama-cpp');
    });

    it('reports its model, the context of one slot, the capabilities and its slots', async () => {
      expect(await discover(server)).toEqual({
        models: [
          {
            id: 'tiny',
            operations: ['generate', 'complete'],
            capabilities: ['stream', 'json', 'continue', 'tools', 'thinking'],
            contextWindow: 8192,
            lacks: ['documents@chat', 'file_ids@chat', 'audio_input@chat'],
          },
        ],
        slots: 2,
      });
    });

    it('streams an answer whose last chunk has the finish reason and the usage', async () => {
      const { events, pieces, end } = await run('Say something.', { stream: true, ...silent });
      expect(events[0]).toMatchObject({ model: 'tiny', choices: [{ delta: { role: 'assistant' } }] });
      expect(assembleCompletion(pieces.join(''))).toMatchObject({
        content: expect.stringMatching(/\w+ \w+/),
        reasoning: '',
        finishReason: expect.stringMatching(/^(stop|length)$/),
        usage: { prompt_tokens: end.usage.promptTokens, completion_tokens: end.usage.completionTokens },
      });
      expect(end.usage.completionTokens).toBeGreaterThan(0);
    });

    it('answers without a stream', async () => {
      const { pieces } = await run('Say something whole.', silent);
      expect(JSON.parse(pieces.join(''))).toMatchObject({
        id: expect.stringMatching(/^chatcmpl-/),
        model: 'tiny',
        choices: [{ message: { role: 'assistant', content: expect.stringMatching(/\w/) } }],
        usage: { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number) },
      });
    });

    it('thinks unless the request switches it off', async () => {
      const { pieces } = await run('Think it over.', { stream: true, max_tokens: 400 });
      expect(assembleCompletion(pieces.join('')).reasoning).toMatch(/\w+ \w+/);
    });

    it('calls the named tool with JSON arguments', async () => {
      const { pieces, end } = await run('Call it.', { stream: true, max_tokens: 2000, ...silent, ...tools });
      expect(end.finishReason).toBe('tool_calls');
      const [call] = assembleCompletion(pieces.join('')).calls;
      expect(call?.name).toBe('get_weather');
      const asked = { city: expect.stringMatching(/Paris|Rome/), days: expect.any(Number) };
      expect(JSON.parse(call?.arguments ?? '')).toMatchObject(asked);
    });

    it('refuses a request that is too long, with its token counts', async () => {
      await expect(run(overlong)).rejects.toEqual(
        errorWith('context_length_exceeded', { message: expect.stringContaining('8192') }),
      );
    });

    it('counts as many tokens as it then uses', async () => {
      const text = 'Say something whole.';
      const job = { body: { model: 'tiny', ...silent, messages: asking(text) }, format: 'messages' };
      const [whole, counted] = await Promise.all([
        run(text, silent),
        runJob({ engine: llamaCpp, url: server.url }, { ...job, operation: 'count_tokens' }),
      ]);
      expect(JSON.parse(counted.pieces.join(''))).toEqual({ input_tokens: whole.end.usage.promptTokens });
    });
  });
}

describe('a real llama-server', { tags: ['llama-server'] }, () => {
  const run = (operation: Operation, format: string, body: JsonObject) =>
    runJob({ engine: llamaCpp, url: server.url }, { body: { model: 'tiny', ...body }, operation, format });

  const server = useStarted(() => startReal());

  it('returns only the rest after the beginning of an answer, streamed and whole', async () => {
    const question = { role: 'user', content: 'Hello' };
    const parts = ['Once', ' upon'].map((text) => ({ type: 'text', text }));
    const answerOf = async (format: string, body: JsonObject) => (await run('generate', format, body)).pieces.join('');
    for (const content of ['Once upon', 'Once upon\n ', parts]) {
      const begun = { role: 'assistant', content };
      const messages = [question, begun];
      const fields = { messages, max_tokens: 12 };
      const chat = await answerOf('chat', { ...fields, n: 2, temperature: 1 });
      for (const answer of [
        chat,
        await answerOf('chat', { ...fields, stream: true }),
        await answerOf('messages', fields),
        await answerOf('responses', { input: messages, max_output_tokens: 12, store: false }),
      ]) {
        expect(answer).toMatch(/\w/);
        expect(answer).not.toMatch(/Once|upon/);
      }
      const { choices } = JSON.parse(chat) as { choices: { message: { content: string } }[] };
      for (const { message } of choices) expect(message.content).toMatch(/^ ?\w/);
    }
  });

  it('continues a text, streamed and whole', async () => {
    const continued = (fields: JsonObject) =>
      run('complete', 'completions', { prompt: 'the red', max_tokens: 12, ...fields });
    const whole = await continued({});
    expect(JSON.parse(whole.pieces.join(''))).toMatchObject({ object: 'text_completion', model: 'tiny' });
    const { events, end } = await continued({ stream: true });
    expect(events.at(-1)).toMatchObject({ usage: { completion_tokens: end.usage.completionTokens } });
    expect(end.usage.promptTokens).toBe(whole.end.usage.promptTokens);
    // It would ignore the suffix.
    await expect(continued({ suffix: ' tree' })).rejects.toEqual(
      errorWith('unsupported_parameter', { param: 'suffix' }),
    );
  });
});

describe('a real llama-server that was started for another purpose', { tags: ['llama-server'] }, () => {
  it('gives embeddings, and refuses dimensions that it ignores', async () => {
    const server = stopAfterTest(await startReal({ flags: ['--embeddings', '--pooling', 'mean'] }));
    const run = (body: JsonObject) =>
      runJob({ engine: llamaCpp, url: server.url }, { body, operation: 'embed', format: 'embeddings' });
    const { models } = await discover(server);
    expect(models).toEqual([{ id: 'tiny', operations: ['embed'], capabilities: [], contextWindow: 8192 }]);
    const input = ['the red tree', 'the red tree', 'a blue river'];
    const { pieces, end } = await run({ model: 'tiny', input, encoding_format: 'base64' });
    const answer = JSON.parse(pieces.join('')) as { data: { index: number; embedding: string }[] };
    expect(answer.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    const [first, same, other] = answer.data.map(({ embedding }) => embedding);
    expect(Buffer.from(first ?? '', 'base64')).toHaveLength(32 * 4);
    expect(first).toBe(same);
    expect(first).not.toBe(other);
    expect(end.usage.promptTokens).toBeGreaterThan(8);
    const plain = await run({ model: 'tiny', input: 'the red tree' });
    const { data } = JSON.parse(plain.pieces.join('')) as { data: { embedding: number[] }[] };
    const bytes = Buffer.from(Float32Array.from(data[0]?.embedding ?? []).buffer);
    expect(cosine(bytes, Buffer.from(first ?? '', 'base64'))).toBeCloseTo(1, 3);
    await expect(run({ model: 'tiny', input: 'x', dimensions: 8 })).rejects.toEqual(
      errorWith('unsupported_parameter', { param: 'dimensions' }),
    );
    await expect(run({ model: 'tiny', input: 'abc '.repeat(9000) })).rejects.toEqual(
      errorWith('context_length_exceeded'),
    );
  });

  it('ranks documents', async () => {
    const weights = makeRankingGguf();
    const server = stopAfterTest(await startReal({ weights, context: 1024, flags: ['--reranking'] }));
    const { models } = await discover(server);
    expect(models).toMatchObject([{ id: 'tiny', operations: ['rank'], capabilities: [] }]);
    const body = { model: 'tiny', query: 'red tree', documents: ['a red tree', 'a river', 'stone'], top_n: 2 };
    const job = { body, operation: 'rank', format: 'rerank' } as const;
    const { pieces, end } = await runJob({ engine: llamaCpp, url: server.url }, job);
    const { results } = JSON.parse(pieces.join('')) as { results: { index: number; relevance_score: number }[] };
    expect(results).toHaveLength(2);
    expect(results[0]?.relevance_score).toBeGreaterThanOrEqual(results[1]?.relevance_score ?? Infinity);
    expect(end.usage.promptTokens).toBeGreaterThan(0);
  });

  it('writes the text before a suffix, streamed and whole', async () => {
    const server = stopAfterTest(await startReal({ weights: makeGguf({ context: 16_384, infills: true }) }));
    const run = (fields: JsonObject) => {
      const body = { model: 'tiny', prompt: 'the red', suffix: ' tree', max_tokens: 12, ...fields };
      return runJob({ engine: llamaCpp, url: server.url }, { body, operation: 'complete', format: 'completions' });
    };
    const whole = JSON.parse((await run({})).pieces.join('')) as JsonObject;
    expect(whole).toMatchObject({
      object: 'text_completion',
      choices: [{ index: 0, finish_reason: expect.stringMatching(/^(stop|length)$/) as string }],
      usage: { prompt_tokens: expect.any(Number) as number, completion_tokens: expect.any(Number) as number },
    });
    const { events, pieces, end } = await run({ stream: true, n: 1, user: 'me' });
    expect(pieces.at(-1)).toMatch(/data: \[DONE\]\n\n$/);
    expect(events.at(-1)).toMatchObject({ usage: { completion_tokens: end.usage.completionTokens } });
    expect(end.usage.completionTokens).toBeGreaterThan(0);
    expect((await run({ max_tokens: 3 })).end.usage.completionTokens).toBeLessThanOrEqual(3);
    await expect(run({ stop: ' ', max_tokens: 500 })).resolves.toMatchObject({ end: { finishReason: 'stop' } });
    await expect(run({ logprobs: 3 })).rejects.toMatchObject({ code: 'unsupported_parameter', param: 'logprobs' });
  });
});

const discover = (server: { url: string }) => llamaCpp.discover(connectEngine(server), []);

/** Returns the cosine of two vectors of 32-bit floats. */
function cosine(a: Buffer, b: Buffer): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < a.length; at += 4) {
    const [x, y] = [a.readFloatLE(at), b.readFloatLE(at)];
    dot += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return dot / Math.sqrt(ofA * ofB);
}
