import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { translations } from '#shared/translate/translations.ts';
import { createHandleJob } from '#services/cloud-worker/handle-job.ts';
import { connectProvider } from '#services/cloud-worker/providers/connect-provider.ts';
import { presets } from '#services/cloud-worker/providers/provider-of.ts';
import { chunk, startScriptedEngine } from '../../helpers/upstreams/start-scripted-engine.ts';

const { openai } = presets;
const hello = { model: 'gpt-9', input: 'Hello.', store: false };

let asked: string[];
let handle: JobHandler;
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
  heads.length = 0;
  served = ['/v1/chat/completions'];
  maxOutput = Number.POSITIVE_INFINITY;
  refusal = undefined;
  levels = undefined;
  const upstream = await startScriptedEngine((response, { url = '' }: IncomingMessage) => {
    asked.push(url);
    if (!served.includes(url)) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"Not Found"}}');
      return;
    }
    const { max_completion_tokens: asks, tools, ...sent } = JSON.parse(upstream.bodies.at(-1) ?? '') as JsonObject;
    const level = levelIn(sent);
    if (typeof level === 'string' && levels?.includes(level) === false) {
      const param = url === '/v1/responses' ? 'reasoning.effort' : 'reasoning_effort';
      const listed = levels.map((each) => `'${each}'`).join(', ');
      const message = `Unsupported value: '${level}' is not supported with this model. Supported values are: ${listed}.`;
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message, param, type: 'invalid_request_error', code: 'unsupported_value' } }),
      );
      return;
    }
    if (url === '/v1/responses') {
      const events = [
        { type: 'response.output_text.delta', delta: 'Hello!' },
        { type: 'response.completed', response: { status: 'completed' } },
      ];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
      return;
    }
    if (tools !== undefined && refusal) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { ...refusal, type: 'invalid_request_error', code: null } }));
      return;
    }
    if (typeof asks === 'number' && asks > maxOutput) {
      const message = `max_tokens is too large: ${asks}. This model supports at most ${maxOutput} completion tokens, whereas you provided ${asks}.`;
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${chunk({ role: 'assistant', content: 'Hello!' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
  const connect = { PROVIDER_URL: `${upstream.url}/v1`, PROVIDER_KEY: 'k', PROVIDER_KEY_HEADER: undefined };
  const http = connectProvider(openai, { ...connect, SLOTS: 4, CONNECT_TIMEOUT_MS: 1_000 }, {});
  onTestFinished(async () => {
    await http.close();
    await upstream.stop();
  });
  bodies = upstream.bodies;
  handle = createHandleJob({
    http,
    provider: openai,
    translations,
    traceName: 'openai',
    models: () => ['gpt-9', 'gpt-9-codex'].map((id) => ({ id, capabilities: ['stream', 'tools', 'thinking', 'json'] })),
    timeouts: { firstTokenMs: 5_000, idleMs: 5_000, answerMs: 5_000 },
    origin: 'here',
    takesPrompts: false,
    passedTiers: ['scale'],
    fitsOutput: true,
    onHead: () => undefined,
  });
});

const heads: object[] = [];

function levelIn({ reasoning_effort: effort, reasoning }: JsonObject): unknown {
  return effort ?? (isJsonObject(reasoning) ? reasoning['effort'] : undefined);
}

/** Returns the level of thinking in each request that the provider got. */
const levelsAsked = (): unknown[] => bodies.map((body) => levelIn(JSON.parse(body) as JsonObject));

async function serve(body: JsonObject = hello, model = 'gpt-9', format = 'responses'): Promise<string> {
  let text = '';
  const write = (piece: string | Uint8Array): void => {
    text += typeof piece === 'string' ? piece : Buffer.from(piece).toString();
  };
  const job = { id: 'j', requestId: 'r', operation: 'generate', format, stream: true, model } as const;
  const whole = Buffer.from(JSON.stringify({ ...body, model, stream: true }));
  const end = await handle(
    { ...job, body: whole },
    { head: (head) => heads.push(head), write },
    AbortSignal.timeout(10_000),
  );
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
    expect(asked).toEqual(['/v1/responses', '/v1/chat/completions', '/v1/chat/completions']);
  });

  it('gets the refusal if the model is served at no path, and nothing is remembered', async () => {
    served = [];
    for (let time = 0; time < 2; time++) await expect(serve()).rejects.toThrow();
    const both = ['/v1/responses', '/v1/chat/completions'];
    expect(asked).toEqual([...both, ...both]);
  });

  it('gets the refusal of a model without another path, and of fields that the chat format lacks, by name', async () => {
    await expect(serve(hello, 'gpt-9-codex')).rejects.toThrow();
    expect(asked).toEqual(['/v1/responses']);
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
  expect(asked).toEqual(['/v1/responses', '/v1/chat/completions', '/v1/chat/completions']);
  expect(Object.assign({}, ...heads)).toEqual({ 'x-rtr-max-tokens': '16384' });
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
  served.push('/v1/responses');
  refusal = { message: "Invalid value: '/v1/responses'.", param: 'tools[0].function.name' };
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  const body = { messages: [{ role: 'user', content: 'Hello.' }], tools };
  await expect(serve(body, 'gpt-9', 'chat')).rejects.toMatchObject({ code: 'invalid_request' });
  expect(asked).toEqual(['/v1/chat/completions']);
});

it('a model that takes functions only at /responses is served there, which is remembered for requests with tools', async () => {
  served.push('/v1/responses');
  // In OpenAI's words.
  const message = `Function tools with reasoning_effort are not supported for gpt-9 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
  refusal = { message, param: 'reasoning_effort' };
  const chat = { messages: [{ role: 'user', content: 'Hello.' }] };
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  for (const body of [
    { ...chat, tools },
    { ...chat, tools, max_tokens: 1 },
  ]) {
    expect(await serve(body, 'gpt-9', 'chat')).toContain('Hello!');
  }
  expect(JSON.parse(bodies.at(-1) ?? '')).toMatchObject({ max_output_tokens: 16 });
  expect(await serve(chat, 'gpt-9', 'chat')).toContain('Hello!');
  const [chatPath, responses] = ['/v1/chat/completions', '/v1/responses'];
  expect(asked).toEqual([chatPath, responses, responses, chatPath]);
});

describe('a model that must think', () => {
  const chat = { messages: [{ role: 'user', content: 'Hello.' }] };

  it.each([
    ['chat', { ...chat, reasoning_effort: 'none' }],
    ['responses', { ...hello, reasoning: { effort: 'none' } }],
    ['messages', { ...chat, max_tokens: 9, thinking: { type: 'disabled' } }],
  ])('gets the lowest level if a %s client wants none, which is remembered', async (format, body) => {
    served.push('/v1/responses');
    levels = ['low', 'high'];
    for (let time = 0; time < 2; time++) expect(await serve(body, 'gpt-9', format)).toContain('Hello!');
    expect(levelsAsked()).toEqual(['none', 'low', 'low']);
  });

  it('gets the lowest of the levels that it lists, for each level that it refuses', async () => {
    levels = ['minimal', 'low'];
    await serve({ ...chat, reasoning_effort: 'none' }, 'gpt-9', 'chat');
    levels = ['none', 'medium'];
    await serve({ ...chat, reasoning_effort: 'minimal' }, 'gpt-9', 'chat');
    expect(levelsAsked()).toEqual(['none', 'minimal', 'minimal', 'medium']);
  });

  it('gets the lowest level at the path that takes its functions, too', async () => {
    served.push('/v1/responses');
    levels = ['low'];
    refusal = { message: 'Use /v1/responses to use function tools.', param: 'reasoning_effort' };
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const body = { ...chat, tools, reasoning_effort: 'none' };
    for (let time = 0; time < 2; time++) expect(await serve(body, 'gpt-9', 'chat')).toContain('Hello!');
    expect(levelsAsked()).toEqual(['none', 'low', 'low', 'low']);
  });

  it('refuses any other error in the request, and nothing is remembered', async () => {
    levels = ['low'];
    refusal = { message: 'No such function.', param: 'tools' };
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const body = { ...chat, tools, reasoning_effort: 'none' };
    for (let time = 0; time < 2; time++)
      await expect(serve(body, 'gpt-9', 'chat')).rejects.toMatchObject({ code: 'invalid_request', param: 'tools' });
    expect(levelsAsked()).toEqual(['none', 'low', 'none', 'low']);
    levels = ['high'];
    await expect(serve({ ...chat, reasoning_effort: 'low' }, 'gpt-9', 'chat')).rejects.toThrow(
      "'low' is not supported",
    );
  });
});
