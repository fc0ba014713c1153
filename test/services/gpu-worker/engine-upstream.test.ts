import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { countFields } from '#shared/core/json-lists.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { PublicFetchError } from '#shared/public-fetch/guarded-agent.ts';
import { llamaCpp } from '#services/gpu-worker/engines/llama-cpp.ts';
import { openai } from '#services/gpu-worker/engines/openai.ts';
import { vllm } from '#services/gpu-worker/engines/vllm.ts';
import type { EngineUpstreamOptions } from '#services/gpu-worker/engine-upstream.ts';
import { connectEngine, longTimeouts, runJob } from '../../helpers/broker/run-job.ts';
import type { JobFields } from '../../helpers/broker/collect-answer.ts';
import { chunk, startScriptedEngine, type ScriptedEngine } from '../../helpers/upstreams/start-scripted-engine.ts';
import { errorWith } from '../../helpers/error-with.ts';
import { until } from '../../helpers/until.ts';
import { least } from '../../helpers/least.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { said, textBlock } from '../../helpers/formats/said.ts';

const models = [{ id: 'm', capabilities: ['stream' as const] }];
const streamed: JsonObject = { model: 'm', stream: true, messages: [said('user', 'Hi')] };
const whole: JsonObject = { ...streamed, stream: false };
const sse = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };
const ending = `${chunk({}, 'stop')}data: [DONE]\n\n`;

const isCount = (path = ''): boolean => path.includes('/input_tokens');

let engine: ScriptedEngine | undefined;

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown;

/** Begins a stream and leaves it open. */
const begin =
  (text: string): Answer =>
  (response) =>
    response.writeHead(200, sse).write(text);

/** Sends a whole stream. */
const send =
  (text: string): Answer =>
  (response) =>
    response.writeHead(200, sse).end(text);

const one = chunk({ content: 'a' });
const sendOne = send(one + ending);

async function start(answer: Answer) {
  engine = stopAfterTest(await startScriptedEngine(answer));
  return { url: engine.url, http: connectEngine(engine) };
}

/** Starts an engine with the script and serves one job with it. */
async function serve(
  script: Answer,
  fields: JobFields,
  options: Partial<EngineUpstreamOptions> = {},
  signal?: AbortSignal,
  onPiece?: (piece: string) => void,
) {
  return runJob({ engine: openai, ...(await start(script)), models, options }, fields, signal, onPiece);
}

describe('a request to an engine', () => {
  const steering = { priority: -9, kv_transfer_params: { remote_host: 'evil' }, lora_path: '/x', cache_salt: 'mine' };
  const sent = async (options: Partial<EngineUpstreamOptions>, fields: Partial<JobFields> = {}) => {
    await serve(sendOne, { body: { ...streamed, ...steering, top_k: 3 }, ...fields }, options);
    return JSON.parse(engine?.bodies.at(-1) ?? '') as JsonObject;
  };

  it('does not steer the engine, but for the fields that its owner lets pass', async () => {
    const usual = await sent({});
    expect(usual).toMatchObject({ top_k: 3 });
    for (const name of Object.keys(steering)) expect(usual).not.toHaveProperty(name);
    const steered = await sent({ allowedSteeringFields: ['priority'] });
    expect(steered).toMatchObject({ priority: -9 });
    expect(steered).not.toHaveProperty('lora_path');
  });

  it('has no other limit of output than that which is counted, and no window of penalties that fills the memory', async () => {
    const body = { ...streamed, n_predict: 6_000, repeat_last_n: 2e9, dry_penalty_last_n: 512 };
    const request = await sent({}, { body });
    expect(request).toMatchObject({ dry_penalty_last_n: 512 });
    for (const name of ['n_predict', 'repeat_last_n']) expect(request).not.toHaveProperty(name);
  });

  it('has a salt of its owner for the prefix cache of vLLM', async () => {
    const saltOf = async (ownerKey: string) => (await sent({ engine: vllm }, { ownerKey }))['cache_salt'];
    const [one, again, other] = [await saltOf('a.b'), await saltOf('a.b'), await saltOf('c.d')];
    expect(one).toMatch(/^[\w-]{43}$/);
    expect([again === one, other === one]).toEqual([true, false]);
  });
});

describe('a streamed answer of an engine', () => {
  it('is relayed piece by piece while the engine generates', async () => {
    let next = (): void => undefined;
    const seen: string[] = [];
    const script: Answer = (response) => {
      response.writeHead(200, sse).write(chunk(said('assistant', 'one')));
      next = () => response.end(chunk({ content: 'two' }) + ending);
    };
    const { events, end } = await serve(script, { body: streamed }, {}, undefined, (piece) => {
      seen.push(piece);
      if (seen.length === 1) next();
    });
    expect(seen[0]).toContain('"one"');
    expect(events.map((event) => JSON.stringify(event)).join('')).toMatch(/one.*two/);
    expect(end.finishReason).toBe('stop');
  });

  it("has the router's own id and the model that served", async () => {
    const { events } = await serve(sendOne, { body: { ...streamed, model: 'auto' }, model: 'm' });
    const own = { id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/), model: 'm' };
    expect(events[0]).toMatchObject(own);
    for (const event of events) expect(event).toMatchObject({ id: events[0]?.['id'], model: 'm' });
  });

  it('is complete at [DONE], even if the engine keeps the connection open', async () => {
    const { end } = await serve(begin(one + ending), { body: streamed });
    expect(end.finishReason).toBe('stop');
    await until(() => expect(engine?.abandoned).toBe(1));
  });

  it.each<[string, Answer]>([
    ['when the engine hangs up', (response) => response.writeHead(200, sse).write(one, () => response.destroy())],
    ['when the engine ends it without a finish reason', send(one)],
    ['at a chunk that is not JSON, and closes the connection', begin(`${one}data: {"choices":[{"del\n\n`)],
    ['at an error in the stream', begin('data: {"error":{"message":"out of memory","code":500}}\n\n')],
    ['at an error with status 200', (response) => response.writeHead(200, json).end('{"error":"No such endpoint"}')],
  ])('fails %s', async (how, script) => {
    await expect(serve(script, { body: streamed })).rejects.toMatchObject({ code: 'upstream_failed' });
    if (how.includes('closes')) await until(() => expect(engine?.abandoned).toBe(1));
  });
});

describe('a long request with lists that the worker need not read', () => {
  const text = (at: number) => `${at}: "${'€'.repeat(99)}"`;
  const messages = Array.from({ length: 401 }, (_, at) => said(at % 2 ? 'assistant' : 'user', text(at)));
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { a: {} } } } }];
  const body = { model: 'auto', messages, temperature: 0.5, tools, stream: true, stream_options: { x: 1 } };
  it.each([
    ['passes them on as they are', 0],
    ['reads them when there are more fields in them than the ingress has seen', 1],
  ])('is served by a worker that %s', async (_, more) => {
    const lists = { messages: countFields(messages) + more, tools: countFields(tools) };
    const unread = { lists, inputTokens: 12_345 };
    const { end } = await serve(sendOne, { body, model: 'm', unread }, { engine: vllm });
    const options = { x: 1, include_usage: true };
    expect(JSON.parse(engine?.bodies[0] ?? '')).toEqual({ ...body, model: 'm', stream_options: options });
    // The engine has reported none.
    expect(end.usage.promptTokens === 12_345).toBe(more === 0);
  });
});

describe('the usage of a stream', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const counted = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
  const answer = send(`${one}${chunk({}, 'stop')}${counted}data: [DONE]\n\n`);
  const asks = { ...streamed, stream_options: { include_usage: true } };
  const last = (events: readonly JsonObject[]): JsonObject[] => events.slice(-2);

  it.each([
    ['that requests it', asks],
    ['that does not request it', streamed],
  ])('is part of the chunk with the finish reason for a client %s', async (_, body) => {
    const { events } = await serve(answer, { body });
    expect(last(events)).toMatchObject([{ choices: [{ delta: { content: 'a' } }] }, { usage }]);
  });
});

describe('the first event of a messages stream', () => {
  const fields: JobFields = { format: 'messages', body: { ...streamed, max_tokens: 9 } };
  const text = chunk(said('assistant', null)) + one + ending;
  const answer = send(text);
  const expectInputTokens = ({ events }: { events: readonly JsonObject[] }, tokens: unknown): void => {
    expect(events[0]?.['message']).toMatchObject({ usage: { input_tokens: tokens } });
    expect(events.map(({ type }) => type)).toContain('message_stop');
  };

  it('has the input tokens as the engine counts them, even if the answer is there before', async () => {
    let counting: ServerResponse | undefined;
    const script: Answer = (response, { url }) => {
      if (isCount(url)) counting = response;
      else response.writeHead(200, sse).end(text, () => counting?.writeHead(200, json).end('{"input_tokens":4711}'));
    };
    expectInputTokens(await serve(script, fields, { engine: llamaCpp }), 4711);
    expect(engine?.bodies).toHaveLength(2);
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['does not come', () => undefined],
    ['is refused', (response) => response.writeHead(404, json).end('{}')],
    ['breaks off', (response) => response.destroy()],
  ])('has an estimate where the count %s', async (_, count) => {
    const script: Answer = (response, request) => (isCount(request.url) ? count(response) : answer(response, request));
    expectInputTokens(await serve(script, fields, { engine: llamaCpp }), expect.any(Number));
  });

  it('causes no count for chat clients', async () => {
    await serve(answer, { body: streamed }, { engine: llamaCpp });
    expect(engine?.bodies).toHaveLength(1);
  });
});

it('a whole answer of an engine keeps its numbers as the engine writes them', async () => {
  const numbers = '{"large":12345678901234567890,"float":1.0,"huge":1e400}';
  const message = `{"role":"assistant","content":"a","numbers":${numbers}}`;
  const answer = `{"choices":[{"index":0,"message":${message},"finish_reason":"stop"}],"timings":${numbers}}`;
  const { pieces } = await serve((response) => response.writeHead(200, json).end(answer), { body: whole });
  expect(pieces.join('').split(numbers)).toHaveLength(3);
});

describe("a timeout of an engine's answer", () => {
  const pings: Answer = (response) => {
    response.writeHead(200, sse);
    const pinging = setInterval(() => response.write(': still here\n\n'), 20);
    response.on('close', () => clearInterval(pinging));
  };

  it.each<[string, Answer, JsonObject, Partial<typeof longTimeouts>]>([
    ['for the first token, even while comments arrive', pings, streamed, { firstTokenMs: 150 }],
    ['for the first token in an open stream', begin(chunk(said('assistant', ''))), streamed, { firstTokenMs: 150 }],
    ['between two tokens', begin(one), streamed, { idleMs: 100 }],
    ['for an answer that is not streamed', () => undefined, whole, { answerMs: 100 }],
  ])('ends the wait %s', async (wait, script, body, change) => {
    const seen: string[] = [];
    const options = { timeouts: { ...longTimeouts, ...change } };
    const served = serve(script, { body }, options, undefined, (piece) => seen.push(piece));
    await expect(served).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(seen).toHaveLength(wait.includes('between') ? 1 : 0);
    await until(() => expect(engine?.abandoned).toBe(1));
  });

  it('does not end an answer whose tokens keep arriving', async () => {
    const script: Answer = (response) => {
      response.writeHead(200, sse);
      let count = 0;
      const writing = setInterval(() => {
        count += 1;
        if (count < 10) response.write(one);
        else response.end(ending, () => clearInterval(writing));
      }, 400);
    };
    const options = { timeouts: { ...longTimeouts, firstTokenMs: 3_000, idleMs: 3_000 } };
    const { end } = await serve(script, { body: streamed }, options);
    expect(end.finishReason).toBe('stop');
  });
});

describe('an abort of a job on an engine', () => {
  it.each<[string, Answer, JsonObject]>([
    ['before the first byte', () => undefined, streamed],
    ['in the middle of a stream', begin(one), streamed],
    ['of an answer that is not streamed', () => undefined, whole],
  ])('%s reaches the engine within 200 ms', async (_, script, body) => {
    const reach = async (): Promise<number> => {
      const client = new AbortController();
      const asked = Promise.withResolvers<void>();
      const answer: Answer = (response, request) => {
        script(response, request);
        asked.resolve();
      };
      const served = serve(answer, { body }, {}, client.signal);
      await asked.promise;
      const abortedAt = performance.now();
      client.abort(new Error('the client is gone'));
      await expect(served).rejects.toThrow('the client is gone');
      await until(() => expect(engine?.abandoned).toBe(1));
      return performance.now() - abortedAt;
    };
    expect(await least(reach, 200)).toBeLessThan(200);
  });

  it('before the job starts keeps the request from the engine', async () => {
    let asked = 0;
    const served = serve(() => (asked += 1), { body: streamed }, {}, AbortSignal.abort(new Error('gone before')));
    await expect(served).rejects.toThrow('gone before');
    expect(asked).toBe(0);
  });
});

describe('a refusal by the engine', () => {
  it.each([
    { status: 429, headers: { 'retry-after': '7' }, code: 'rate_limit_exceeded', retryAfter: 7 },
    { status: 503, headers: {}, code: 'overloaded', retryAfter: undefined },
    { status: 500, headers: {}, code: 'upstream_failed', retryAfter: undefined },
    { status: 401, headers: {}, code: 'upstream_failed', retryAfter: undefined },
    { status: 400, headers: {}, code: 'invalid_request', retryAfter: undefined },
  ])('with $status → $code', async ({ status, headers, code, retryAfter }) => {
    const script: Answer = (response) => response.writeHead(status, headers).end('{"error":{"message":"no"}}');
    const asStream = serve(script, { body: streamed });
    await expect(asStream).rejects.toMatchObject({ code, retryAfter });
    const asWhole = runJob({ engine: openai, url: engine?.url ?? '', models }, { body: whole });
    await expect(asWhole).rejects.toMatchObject({ code, retryAfter });
  });

  it('with an answer that is not JSON → upstream_failed', async () => {
    const served = serve((response) => response.writeHead(200).end('<html>'), { body: whole });
    await expect(served).rejects.toMatchObject({ code: 'upstream_failed' });
  });
});

describe('an engine that cannot serve', () => {
  it('is reported at once if it is unreachable', async () => {
    const gone = await startScriptedEngine(() => undefined);
    await gone.stop();
    let unreachable = 0;
    const options = { onUnreachable: () => (unreachable += 1) };
    const served = runJob({ engine: openai, url: gone.url, models, options }, { body: streamed });
    await expect(served).rejects.toMatchObject({ code: 'worker_lost', movable: true });
    expect(unreachable).toBe(1);
  });

  it('lets the job move if it no longer has the model', async () => {
    const served = serve(() => undefined, { body: streamed, model: 'gone' });
    await expect(served).rejects.toMatchObject({ code: 'upstream_failed', movable: true });
  });
});

it.each(['http://10.0.0.1/a.png', 'file:///etc/passwd'])(
  'an image that cannot be fetched is named: %s',
  async (url) => {
    const image = { type: 'image', source: { type: 'url', url } };
    const call = { type: 'tool_use', id: 't', name: 'look', input: {} };
    const result = { type: 'tool_result', tool_use_id: 't', content: [textBlock('Here'), image] };
    const messages = [said('user', 'Hi'), said('assistant', [call]), said('user', [result])];
    const fetchImage = (): Promise<string> => Promise.reject(new PublicFetchError('its address is not public'));
    const body = { model: 'm', max_tokens: 9, messages };
    const served = serve(() => undefined, { body, format: 'messages' }, { fetchImage });
    const param = 'messages.2.content.0.content.1.source.url';
    await expect(served).rejects.toEqual(
      errorWith('invalid_request', { param, message: expect.stringContaining(param) }),
    );
  },
);

it('connections to an engine are reused by later jobs', async () => {
  const sockets = new Set<unknown>();
  const parts = await start((response, request) => {
    sockets.add(request.socket);
    sendOne(response, request);
  });
  for (let turn = 0; turn < 6; turn += 1) await runJob({ engine: openai, ...parts, models }, { body: streamed });
  // A job is over at [DONE], just before its connection is free again: two connections alternate.
  expect(sockets.size).toBeLessThanOrEqual(2);
});

describe('a request with large images for an engine', () => {
  const image = `data:image/png;base64,${randomBytes(100_000).toString('base64')}`;

  it('is sent unchanged, except for the fields that the engine needs and images named by address, which are fetched', async () => {
    const imageAt = (url: string) => ({ type: 'image_url', image_url: { url } });
    const asking = (second: string) => {
      const low = { type: 'image_url', image_url: { url: image, detail: 'low' } };
      return {
        ...streamed,
        messages: [said('user', [textBlock('Ä "quoted" word'), imageAt(image), low, imageAt(second)])],
      };
    };
    const fetched = 'data:image/png;base64,AAAA';
    await serve(sendOne, { body: asking('https://example.com/cat') }, { fetchImage: () => Promise.resolve(fetched) });
    expect(JSON.parse(engine?.bodies[0] ?? '')).toEqual({
      ...asking(fetched),
      stream_options: { include_usage: true },
    });
  });

  it('is sent from another client format', async () => {
    const data = image.slice(image.indexOf(',') + 1);
    const source = { type: 'base64', media_type: 'image/png', data };
    const body = { ...streamed, max_tokens: 9, messages: [said('user', [{ type: 'image', source }])] };
    await serve(sendOne, { body, format: 'messages' });
    expect(engine?.bodies[0]).toContain(`"url":"${image}"`);
  });
});

describe('an output limit that the engine refuses', () => {
  const refuses = (response: ServerResponse, message: string): unknown =>
    response.writeHead(400, json).end(JSON.stringify({ error: { message } }));
  const asks = { ...streamed, max_tokens: 32_000 };

  it("is lowered by the engine's count of the input, and the client is informed", async () => {
    const heads: object[] = [];
    const bodies: JsonObject[] = [];
    const parts = await start((response, request) => {
      if (request.url === '/tokenize') return response.end('{"count":7000}');
      const body = JSON.parse(engine?.bodies.at(-1) ?? '') as JsonObject;
      bodies.push(body);
      const tooMany = `max_tokens=${Number(body['max_tokens'])} cannot be greater than max_model_len=30000.`;
      return Number(body['max_tokens']) > 30_000 ? refuses(response, tooMany) : sendOne(response, request);
    });
    const using = { engine: vllm, ...parts, models };
    const onHead = (head: object): unknown => heads.push(head);
    const { end } = await runJob(using, { body: { ...asks, seed: 7 } }, undefined, undefined, onHead);
    expect(end.finishReason).toBe('stop');
    expect(bodies.map((body) => body['max_tokens'])).toEqual([32_000, 23_000]);
    expect(bodies[1]).toEqual({ ...bodies[0], max_tokens: 23_000 });
    expect(heads).toEqual([{ 'x-rtr-max-tokens': '23000' }]);
  });

  const context = "This model's maximum context length is 8192 tokens.";
  const tooLarge =
    "This model's maximum context length is 30000 tokens. However, you requested 37000 tokens (5000 in the messages, 32000 in the completion).";

  it.each([
    [{ max_tokens: 64 }, 'at least 8193 input tokens', 63_017, '63017'],
    [{ max_tokens: 4_000 }, 'at least 4193 input tokens', 7_000, '7000'],
    [{ max_tokens: 64 }, '720060 characters (more than 81280 characters', 63_017, '63017'],
    // The engine's count here would fit, so the count is not the reason of its refusal.
    [{ max_tokens: 64 }, 'at least 8193 input tokens', 5_000, undefined],
  ])(
    'is an error with all tokens of the input, as the engine counts them: %j, %s',
    async (fields, what, count, said) => {
      const asked = `However, you requested ${fields.max_tokens} output tokens and your prompt contains ${what}`;
      const parts = await start((response, request) => {
        if (request.url === '/tokenize') return response.end(JSON.stringify({ count }));
        return refuses(response, `${context} ${asked}`);
      });
      const using = { engine: vllm, ...parts, models };
      const error: unknown = await runJob(using, { body: { ...whole, ...fields } }).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'context_length_exceeded', details: { maximum_tokens: '8192' } });
      expect((error as RouterError).details?.['input_tokens']).toBe(said);
      expect(JSON.parse(engine?.bodies.at(-1) ?? '')).toMatchObject({ model: 'm', messages: whole['messages'] });
    },
  );

  it('is an error after the first piece of the answer', async () => {
    const refusal = `data: ${JSON.stringify({ error: { message: tooLarge, code: 400 } })}\n\n`;
    const served = serve(send(one + refusal), { body: asks });
    await expect(served).rejects.toMatchObject({ code: 'context_length_exceeded' });
    expect(engine?.bodies).toHaveLength(1);
  });
});
