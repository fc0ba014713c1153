import { BadRequestError, type OpenAI } from 'openai';
import { describe, expect, it } from 'vitest';
import { startTestEngine, tool, user } from './start-test-engine.ts';

const model = 'demo';

const imageAt = (url: string) => ({ type: 'image_url' as const, image_url: { url } });

async function complete(request: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) {
  const { openai } = await startTestEngine();
  return openai.chat.completions.create({ model, messages: [user('Hi')], ...request });
}

async function chunksOf(request: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}) {
  const { openai } = await startTestEngine();
  const asked = { model, messages: [user('Hi')], stream_options: { include_usage: true }, ...request };
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of await openai.chat.completions.create({ ...asked, stream: true })) chunks.push(chunk);
  return chunks;
}

describe('the demo engine, seen through the official SDK', () => {
  it('lists its models with their context window and owner', async () => {
    const { openai } = await startTestEngine({ DEMO_MODELS: 'one, org/two', DEMO_CONTEXT_WINDOW: '4096' });
    const { data } = await openai.models.list();
    const facts = { owned_by: 'rtr-demo', max_model_len: 4096 };
    expect(data).toMatchObject(['one', 'org/two'].map((id) => ({ ...facts, id })));
  });

  it('describes the request in its answer', async () => {
    const [sent, linked] = [imageAt('data:image/png;base64,iVBORw=='), imageAt('https://example.com/a.jpg')];
    const text = { type: 'text' as const, text: 'What is this?' };
    const question = { role: 'user' as const, content: [text, sent, linked] };
    const messages = [{ role: 'system' as const, content: 'Be kind.' }, question];
    const { choices, usage } = await complete({ temperature: 0.25, messages, tools: [tool('get_weather', 'city')] });
    const parts = ['“What is this?”', '2 (1 system, 1 user)', 'System prompt: 8 characters', 'temperature 0.25'];
    const images = 'image/png of 4 bytes, a linked image from example.com';
    for (const part of [...parts, images, 'Tools on offer: get_weather'])
      expect(choices[0]?.message.content).toContain(part);
    expect(choices[0]?.finish_reason).toBe('stop');
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  });

  it('streams the same text as it sends whole', async () => {
    const { openai } = await startTestEngine();
    const request = { model, messages: [user('Grüße, 世界 👩‍👩‍👧!')] };
    const whole = await openai.chat.completions.create(request);
    const streamed = await openai.chat.completions.stream(request).finalContent();
    expect(streamed).toBe(whole.choices[0]?.message.content);
  });

  it('sends the role first and the token counts last, in a separate chunk', async () => {
    const chunks = await chunksOf();
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(chunks.at(-1)?.choices).toEqual([]);
    const contents = chunks.filter((chunk) => chunk.choices[0]?.delta.content).length;
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThanOrEqual(contents);
    expect(chunks.slice(0, -1).every((chunk) => !chunk.usage)).toBe(true);
  });

  it('thinks first on request, and counts the tokens of it', async () => {
    const chunks = await chunksOf({ reasoning_effort: 'low' });
    const kinds = chunks.flatMap((chunk) => Object.keys(chunk.choices[0]?.delta ?? {})).slice(2);
    expect(kinds[0]).toBe('reasoning_content');
    expect(kinds.lastIndexOf('reasoning_content')).toBeLessThan(kinds.indexOf('content'));
    expect(chunks.at(-1)?.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(3);
  });

  it.each([
    [{ chat_template_kwargs: { enable_thinking: true } }, true],
    [{ thinking: { type: 'adaptive' } }, true],
    [{ reasoning_effort: 'none' }, false],
    [{ reasoning_effort: 'high', thinking: { type: 'disabled' } }, false],
    [{}, false],
  ])('recognizes whether %j asks for thinking', async (fields, thinks) => {
    const { post } = await startTestEngine();
    const answer = (await (await post({ model, messages: [user('Hi')], ...fields })).json()) as OpenAI.ChatCompletion;
    expect('reasoning_content' in (answer.choices[0]?.message ?? {})).toBe(thinks);
  });

  it('completes a tool loop: parallel calls, their results, then text', async () => {
    const { openai } = await startTestEngine();
    const asked: string[] = [];
    const answer = (text: string) => {
      const { city } = JSON.parse(text) as { city: string };
      asked.push(city);
      return `${city} is sunny`;
    };
    const messages = [user('Use get_weather for Paris and Tokyo in parallel.')];
    const own = { type: 'function' as const, function: { ...tool('get_weather', 'city').function, function: answer } };
    const runner = openai.chat.completions.runTools({ model, stream: true, messages, tools: [own] });
    const text = await runner.finalContent();
    expect(asked).toEqual(['Paris', 'Tokyo']);
    for (const city of asked) expect(text).toContain(`get_weather gave: “${city} is sunny”`);
  });

  it('returns content null and finish_reason tool_calls with a call', async () => {
    const { choices } = await complete({ tools: [tool('look_up', 'query')], tool_choice: 'required' });
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(choices[0]?.message.tool_calls).toHaveLength(1);
  });

  it('stops at max_tokens', async () => {
    const { choices, usage } = await complete({ max_completion_tokens: 5 });
    expect(choices[0]?.finish_reason).toBe('length');
    expect(usage?.completion_tokens).toBe(5);
  });

  it('stops before a stop string that spans several tokens', async () => {
    const { openai } = await startTestEngine();
    const request = { model, messages: [user('Hi')] };
    const full = (await openai.chat.completions.create(request)).choices[0]?.message.content ?? '';
    const stop = 'no weights, an';
    const { choices } = await openai.chat.completions.create({ ...request, stop: ['never said', stop] });
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: stop });
    expect(choices[0]?.message.content).toBe(full.slice(0, full.indexOf(stop)));
  });

  it('continues an interrupted answer exactly where it stopped', async () => {
    const { post } = await startTestEngine();
    const said = async (messages: object[], more: object = {}): Promise<string> => {
      const answer = (await (await post({ model, messages, ...more })).json()) as OpenAI.ChatCompletion;
      return answer.choices[0]?.message.content ?? '';
    };
    const full = await said([user('Hi')]);
    const begun = full.slice(0, 37);
    const rest = await said([user('Hi'), { role: 'assistant', content: begun }], { continue_final_message: true });
    expect(begun + rest).toBe(full);
  });

  it('returns from /tokenize the prompt tokens of the chat', async () => {
    const { openai, url } = await startTestEngine();
    const picture = { role: 'user' as const, content: [imageAt('https://example.com/a.png')] };
    const messages = [user('How many? <|endoftext|>'), picture];
    const request = { messages, tools: [tool('get_weather', 'city')] };
    const counted = await fetch(`${url}/tokenize`, { method: 'POST', body: JSON.stringify({ model, ...request }) });
    const { usage } = await openai.chat.completions.create({ model, ...request });
    expect(await counted.json()).toEqual({ count: usage?.prompt_tokens, max_model_len: 131_072, tokens: [] });
    expect(usage?.prompt_tokens).toBeGreaterThan(256);
  });

  it('refuses a request beyond the context window, in the words of vLLM', async () => {
    const { openai } = await startTestEngine({ DEMO_CONTEXT_WINDOW: '100' });
    const request = openai.chat.completions.create({ model, max_tokens: 90, messages: [user('word '.repeat(20))] });
    await expect(request).rejects.toThrow(BadRequestError);
    await expect(request).rejects.toMatchObject({ code: 'context_length_exceeded', param: 'messages' });
    const asked = /However, you requested 1\d\d tokens \(\d+ in the messages, 90 in the completion\)/;
    await expect(request).rejects.toThrow(/maximum context length is 100 tokens\. However/);
    await expect(request).rejects.toThrow(asked);
  });

  it('shows in its state which fields reached it, and no content', async () => {
    const { post, get } = await startTestEngine();
    await post({ model, messages: [user('my secret')], top_k: 5 });
    const state = await get('/demo/state');
    const last = { fields: ['model', 'messages', 'top_k'], ended: 'finished', messages: 1 };
    expect(state).toMatchObject({ active: 0, started: 1, finished: 1, last });
    expect(JSON.stringify(state)).not.toContain('secret');
  });
});

describe('bad requests to the demo engine', () => {
  const messages = [user('Hi')];
  const passwords = { role: 'user', content: [imageAt('file:///etc/passwd')] };
  const named = { type: 'function', function: { name: 'b' } };

  it.each([
    ['', 400, null],
    ['{"model":', 400, null],
    ['[]', 400, null],
    [{ messages }, 400, 'model'],
    [{ model: 'other', messages }, 404, 'model'],
    [{ model, messages: [] }, 400, 'messages'],
    [{ model, messages: [{ role: 'wizard', content: 'x' }] }, 400, 'messages[0].role'],
    [{ model, messages: [passwords] }, 400, 'messages[0].content[0].image_url.url'],
    [{ model, messages, n: 2 }, 400, 'n'],
    [{ model, messages, max_tokens: 0 }, 400, 'max_tokens'],
    [{ model, messages, tool_choice: 'required' }, 400, 'tool_choice'],
    [{ model, messages, tools: [tool('a')], tool_choice: named }, 400, 'tool_choice'],
    [{ model, messages, demo: { fault: 'dorp' } }, 400, 'demo'],
    [{ model, messages, demo: { falt: 'drop' } }, 400, 'demo'],
    [{ model, messages: [user('[demo fault=dorp]')] }, 400, 'messages'],
    [{ model, messages: [user('[demo fault=dorp ]')] }, 400, 'messages'],
  ])('%j gets an error of the OpenAI shape', async (body, status, param) => {
    const { post } = await startTestEngine();
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      error: { message: expect.any(String), type: 'invalid_request_error', param, code: expect.toSatisfy(isCode) },
    });
  });

  const isCode = (code: unknown): boolean => code === null || typeof code === 'string';

  it('answers unknown paths with 404 and wrong methods with 405', async () => {
    const { url } = await startTestEngine();
    for (const path of ['v1/audio/voices', 'constructor']) expect((await fetch(`${url}/${path}`)).status).toBe(404);
    const wrong = await fetch(`${url}/v1/chat/completions`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('answers a body of more than 64 MiB with 413', async () => {
    const { post } = await startTestEngine();
    expect((await post(`"${'x'.repeat(64 * 1024 * 1024)}"`)).status).toBe(413);
  });
});
