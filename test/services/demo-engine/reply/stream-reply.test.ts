import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { startTestEngine, tool, user } from '../start-test-engine.ts';
import { until } from '../../../helpers/until.ts';

const asked = { model: 'demo', messages: [user('Hi')], stream: true };
const ask = (demo: object, more: object = {}) => ({ ...asked, demo, ...more });

async function stream(demo: object, more: object = {}): Promise<string> {
  const { post } = await startTestEngine();
  return (await post(ask(demo, more))).text();
}

const events = (text: string): string[] => text.split('\n\n').filter((event) => event !== '');
const chunk = (event: string): OpenAI.ChatCompletionChunk =>
  JSON.parse(event.slice('data: '.length)) as OpenAI.ChatCompletionChunk;
const contents = (text: string): string[] =>
  events(text).flatMap((event) => /"content":"([^"]+)"/.exec(event)?.slice(1) ?? []);

describe('faults of a stream', () => {
  it('drop closes the connection in the middle of an event, after the given number of tokens', async () => {
    const { post, state } = await startTestEngine();
    const response = await post(ask({ fault: 'drop', fault_after_tokens: 3, answer_tokens: 10 }));
    const received: Uint8Array[] = [];
    const reading = (async () => {
      for await (const part of response.body ?? []) received.push(part);
    })();
    await expect(reading).rejects.toThrow('terminated');
    expect(contents(Buffer.concat(received).toString())).toEqual(['One', ' two', ' three']);
    expect(await state()).toMatchObject({ active: 0, faulted: 1, last: { completion_tokens: 3 } });
  });

  it('error_event is an error in the stream, after the given number of tokens', async () => {
    const text = await stream({ fault: 'error_event', fault_after_tokens: 2, answer_tokens: 10 });
    expect(contents(text)).toEqual(['One', ' two']);
    expect(JSON.parse(events(text).at(-2)?.slice(6) ?? '')).toMatchObject({ error: { type: 'server_error' } });
    expect(text).not.toContain('"finish_reason":"stop"');
  });

  it('close_early ends cleanly, without finish_reason and [DONE]', async () => {
    const text = await stream({ fault: 'close_early', answer_tokens: 10 });
    expect(contents(text)).toHaveLength(5);
    expect(text).not.toMatch(/DONE|"finish_reason":"/);
  });

  it('malformed breaks one chunk and continues to the end', async () => {
    const text = await stream({ fault: 'malformed', fault_after_tokens: 2, answer_tokens: 4 });
    const broken = events(text).filter((event) => event !== 'data: [DONE]' && !parses(event.slice(6)));
    expect(broken).toHaveLength(1);
    expect(contents(text)).toEqual(['One', ' two', ' three', ' four']);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('no_usage omits the token counts', async () => {
    const text = await stream({ fault: 'no_usage' }, { stream_options: { include_usage: true } });
    expect(text).toContain('"finish_reason":"stop"');
    expect(text).not.toContain('usage');
  });

  it('hang sends the given number of tokens and then nothing', async () => {
    const { post, state } = await startTestEngine();
    const client = new AbortController();
    const response = await post(ask({ fault: 'hang', fault_after_tokens: 0 }), client.signal);
    expect(response.status).toBe(200);
    expect(await state()).toMatchObject({ active: 1, last: { completion_tokens: 0 } });
    client.abort();
    await until(async () => expect(await state()).toMatchObject({ active: 0, aborted: 1 }));
  });

  it.each([
    ['429', 429, 'rate_limit_exceeded'],
    [500, 500, 'internal_error'],
    ['503', 503, 'overloaded'],
  ])('%s is an error answer', async (fault, status, code) => {
    const { post } = await startTestEngine();
    const response = await post(ask({ fault, retry_after: 7 }));
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, '7']);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it('can be set in a line of the text, and as a default that a request can turn off', async () => {
    const { post } = await startTestEngine({ DEMO_OPTIONS: 'fault=close_early after=1 tokens=4' });
    const text = async (body: object): Promise<string> => (await post(body)).text();
    expect(contents(await text(ask({})))).toEqual(['One']);
    expect(contents(await text(ask({ fault: 'none' })))).toHaveLength(4);
    const line = { model: 'demo', stream: true, messages: [user('Hi\n[demo after=2 tokens=9]\nthere')] };
    expect(contents(await text(line))).toEqual(['One', ' two']);
  });
});

describe('faults of an answer that is not streamed', () => {
  const ask = async (fault: string) =>
    (await startTestEngine()).post({ model: 'demo', messages: [user('Hi')], demo: { fault } });

  it('drop sends no answer at all, and close_early less than its content-length', async () => {
    await expect(ask('drop')).rejects.toThrow('fetch failed');
    await expect((await ask('close_early')).text()).rejects.toThrow('terminated');
  });

  it('malformed is broken JSON, error_event is status 500, no_usage is an answer without counts', async () => {
    expect(parses(await (await ask('malformed')).text())).toBe(false);
    expect((await ask('error_event')).status).toBe(500);
    expect(await (await ask('no_usage')).json()).not.toHaveProperty('usage');
  });
});

describe('variants', () => {
  const city = '{"city":"Paris"}';
  const call = {
    messages: [user('Use get_weather and get_time for Paris in parallel')],
    tools: [tool('get_weather', 'city'), tool('get_time', 'city')],
  };
  const deltas = async (demo: object, more: object) => {
    const sent = events(await stream(demo, more)).slice(0, -1);
    return sent.map((event) => chunk(event).choices[0]);
  };
  const callsOf = (sent: Awaited<ReturnType<typeof deltas>>) =>
    sent.flatMap((choice) => choice?.delta.tool_calls ?? []);
  const indexesOf = (sent: Awaited<ReturnType<typeof deltas>>) => callsOf(sent).map(({ index }) => index);

  it('numbers parallel calls and sends their arguments in fragments, one call after the other', async () => {
    const sent = await deltas({}, call);
    const indexes = indexesOf(sent);
    expect(new Set(indexes)).toEqual(new Set([0, 1]));
    expect(indexes).toEqual(indexes.toSorted((one, other) => one - other));
    expect(indexes.length).toBeGreaterThan(6);
    expect(sent.at(-1)?.finish_reason).toBe('tool_calls');
  });

  it('interleave_tools alternates the fragments', async () => {
    const sent = await deltas({ interleave_tools: true }, call);
    expect(indexesOf(sent).slice(0, 6)).toEqual([0, 1, 0, 1, 0, 1]);
    const ofBoth = ['', ''];
    for (const { index, function: part } of callsOf(sent)) ofBoth[index] += part?.arguments ?? '';
    expect(ofBoth).toEqual([city, city]);
  });

  it('imitates Ollama on request', async () => {
    const demo = { tool_args_whole: true, role_on_every_delta: true, finish_stop: true, reasoning_field: 'reasoning' };
    const sent = await deltas(demo, { ...call, reasoning_effort: 'low' });
    expect(callsOf(sent).map(({ function: part }) => part?.arguments)).toEqual([city, city]);
    expect(sent.slice(0, -1).every((choice) => choice?.delta.role === 'assistant')).toBe(true);
    expect(sent.some((choice) => 'reasoning' in (choice?.delta ?? {}))).toBe(true);
    expect(sent.at(-1)?.finish_reason).toBe('stop');
  });

  it('text_before_tools sends text before the calls', async () => {
    const sent = await deltas({ text_before_tools: true }, call);
    expect(sent.map((choice) => choice?.delta.content ?? '').join('')).toBe('I call get_weather, get_time.');
  });
});

it('pace follows the first-token delay and the rate', async () => {
  const { post } = await startTestEngine();
  const begun = performance.now();
  await (await post(ask({ first_token_delay_ms: 50, tokens_per_second: 100, answer_tokens: 11 }))).text();
  // The first token comes after 50 ms, each of the ten others 10 ms after the one before; timers may be 1 ms early.
  expect(performance.now() - begun).toBeGreaterThanOrEqual(148);
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return false;
  }
}
