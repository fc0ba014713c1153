import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { presets } from '#services/cloud-worker/providers/presets.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { openCloudWorker } from '../../helpers/upstreams/open-cloud-worker.ts';
import { chunk, startScriptedEngine } from '../../helpers/upstreams/start-scripted-engine.ts';

const hello = { input: 'Hello.', store: false };
const chat = { messages: [{ role: 'user', content: 'Hello.' }] };
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
const [chatPath, responsesPath] = ['/v1/chat/completions', '/v1/responses'];

let asked: string[];
let worker: ReturnType<typeof openCloudWorker>;
let bodies: readonly string[];
/** Paths that the provider serves. */
let served: string[];
/** Largest output limit of the model; it refuses higher ones in OpenAI's words. */
let maxOutput: number;
/** Levels of thinking that the model accepts; undefined for all. */
let levels: string[] | undefined;
/** Refusal of functions at /chat/completions; undefined where they are accepted. */
let refusal: { message: string; param: string } | undefined;

beforeEach(async () => {
  asked = [];
  served = [chatPath];
  maxOutput = Number.POSITIVE_INFINITY;
  refusal = undefined;
  levels = undefined;
  const upstream = await startScriptedEngine((response, { url = '' }: IncomingMessage) => {
    asked.push(url);
    const refuse = (error: object, status = 400): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    const stream = (text: string): void =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
    if (!served.includes(url)) return refuse({ message: 'Not Found' }, 404);
    const { max_completion_tokens: asks, tools, ...sent } = JSON.parse(upstream.bodies.at(-1) ?? '') as JsonObject;
    const level = levelIn(sent);
    const type = 'invalid_request_error';
    if (typeof level === 'string' && levels?.includes(level) === false) {
      const param = url === responsesPath ? 'reasoning.effort' : 'reasoning_effort';
      const listed = levels.map((each) => `'${each}'`).join(', ');
      const message = `Unsupported value: '${level}' is not supported with this model. Supported values are: ${listed}.`;
      return refuse({ message, param, type, code: 'unsupported_value' });
    }
    if (url === responsesPath) {
      const events = [
        { type: 'response.output_text.delta', delta: 'Hello!' },
        { type: 'response.completed', response: { status: 'completed' } },
      ];
      return stream(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    }
    if (tools !== undefined && refusal) return refuse({ ...refusal, type, code: null });
    if (typeof asks === 'number' && asks > maxOutput) {
      const message = `max_tokens is too large: ${asks}. This model supports at most ${maxOutput} completion tokens, whereas you provided ${asks}.`;
      return refuse({ message });
    }
    return stream(`${chunk({ role: 'assistant', content: 'Hello!' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
  const { url } = stopAfterTest(upstream);
  bodies = upstream.bodies;
  worker = openCloudWorker(presets.openai, `${url}/v1`, {
    models: () => ['gpt-9', 'gpt-9-codex'].map((id) => ({ id, capabilities: ['stream', 'tools', 'thinking', 'json'] })),
    passedTiers: ['scale'],
  });
});

function levelIn({ reasoning_effort: effort, reasoning }: JsonObject): unknown {
  return effort ?? (isJsonObject(reasoning) ? reasoning['effort'] : undefined);
}

/** Returns the level of thinking in each request that the provider got. */
const levelsAsked = (): unknown[] => bodies.map((body) => levelIn(JSON.parse(body) as JsonObject));

async function serve(body: JsonObject = hello, format = 'responses', model = 'gpt-9'): Promise<string> {
  const { text, end } = await worker.run(format, model, { ...body, stream: true });
  expect(end.finishReason).toBe('stop');
  return text;
}

describe('a Responses client of a provider without /responses', () => {
  it('is served at /chat/completions, which is remembered for the model', async () => {
    for (let time = 0; time < 2; time++) {
      const text = await serve();
      expect(text).toMatch(/^event: response\.created\n/);
      expect(text).toContain('"text":"Hello!"');
      expect(text).toContain('event: response.completed');
    }
    expect(asked).toEqual([responsesPath, chatPath, chatPath]);
  });

  it('gets the refusal if the model is served at no path, and nothing is remembered', async () => {
    served = [];
    for (let time = 0; time < 2; time++) await expect(serve()).rejects.toThrow();
    expect(asked).toEqual([responsesPath, chatPath, responsesPath, chatPath]);
  });

  it('gets the refusal of a model without another path, and of fields that the chat format lacks, by name', async () => {
    await expect(serve(hello, 'responses', 'gpt-9-codex')).rejects.toThrow();
    expect(asked).toEqual([responsesPath]);
    const searching = { ...hello, tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] };
    await expect(serve(searching)).rejects.toMatchObject({ code: 'unsupported_parameter', param: 'tools[0].type' });
  });
});

it('an output limit above the model’s own is lowered, also at the other path, and the client is informed', async () => {
  maxOutput = 16_384;
  const text = await serve({ ...hello, max_output_tokens: 32_000 });
  expect(text).toContain('event: response.completed');
  // The answer has the client's own parameters.
  expect(text).toContain('"max_output_tokens":32000');
  expect(asked).toEqual([responsesPath, chatPath, chatPath]);
  expect(Object.assign({}, ...worker.heads)).toEqual({ 'x-rtr-max-tokens': '16384' });
});

it.each([
  ['priority', undefined],
  ['flex', 'flex'],
  // Permitted by `passedTiers`.
  ['scale', 'scale'],
])('the service tier %s is asked for as %s', async (tier, sent) => {
  await serve({ ...hello, service_tier: tier });
  expect(JSON.parse(bodies.at(-1) ?? '')).toHaveProperty('model', 'gpt-9');
  expect((JSON.parse(bodies.at(-1) ?? '') as JsonObject)['service_tier']).toBe(sent);
});

it('a refusal that quotes the path of the request does not cause a switch to that path', async () => {
  served.push(responsesPath);
  refusal = { message: "Invalid value: '/v1/responses'.", param: 'tools[0].function.name' };
  await expect(serve({ ...chat, tools }, 'chat')).rejects.toMatchObject({ code: 'invalid_request' });
  expect(asked).toEqual([chatPath]);
});

it('a model that takes functions only at /responses is served there, which is remembered for requests with tools', async () => {
  served.push(responsesPath);
  // In OpenAI's words.
  const message = `Function tools with reasoning_effort are not supported for gpt-9 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
  refusal = { message, param: 'reasoning_effort' };
  for (const body of [{}, { max_tokens: 1 }])
    expect(await serve({ ...chat, tools, ...body }, 'chat')).toContain('Hello!');
  expect(JSON.parse(bodies.at(-1) ?? '')).toMatchObject({ max_output_tokens: 16 });
  expect(await serve(chat, 'chat')).toContain('Hello!');
  expect(asked).toEqual([chatPath, responsesPath, responsesPath, chatPath]);
});

describe('a model that must think', () => {
  it.each([
    ['chat', { ...chat, reasoning_effort: 'none' }],
    ['responses', { ...hello, reasoning: { effort: 'none' } }],
    ['messages', { ...chat, max_tokens: 9, thinking: { type: 'disabled' } }],
  ])('gets the lowest level if a %s client wants none, which is remembered', async (format, body) => {
    served.push(responsesPath);
    levels = ['low', 'high'];
    for (let time = 0; time < 2; time++) expect(await serve(body, format)).toContain('Hello!');
    expect(levelsAsked()).toEqual(['none', 'low', 'low']);
  });

  it('gets the lowest of the levels that it lists, for each level that it refuses', async () => {
    levels = ['minimal', 'low'];
    await serve({ ...chat, reasoning_effort: 'none' }, 'chat');
    levels = ['none', 'medium'];
    await serve({ ...chat, reasoning_effort: 'minimal' }, 'chat');
    expect(levelsAsked()).toEqual(['none', 'minimal', 'minimal', 'medium']);
  });

  it('gets the lowest level at the path that takes its functions, too', async () => {
    served.push(responsesPath);
    levels = ['low'];
    refusal = { message: 'Use /v1/responses to use function tools.', param: 'reasoning_effort' };
    const body = { ...chat, tools, reasoning_effort: 'none' };
    for (let time = 0; time < 2; time++) expect(await serve(body, 'chat')).toContain('Hello!');
    expect(levelsAsked()).toEqual(['none', 'low', 'low', 'low']);
  });

  it('refuses any other error in the request, and nothing is remembered', async () => {
    levels = ['low'];
    refusal = { message: 'No such function.', param: 'tools' };
    const body = { ...chat, tools, reasoning_effort: 'none' };
    for (let time = 0; time < 2; time++)
      await expect(serve(body, 'chat')).rejects.toMatchObject({ code: 'invalid_request', param: 'tools' });
    expect(levelsAsked()).toEqual(['none', 'low', 'none', 'low']);
    levels = ['high'];
    await expect(serve({ ...chat, reasoning_effort: 'low' }, 'chat')).rejects.toThrow("'low' is not supported");
  });
});
