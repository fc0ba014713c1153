import { randomBytes } from 'node:crypto';
import OpenAI from 'openai';
import type { Response as ResponseObject, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { sealer } from '#shared/core/seal.ts';
import { responsesToMessagesReply } from '#shared/translate/responses-messages/responses-to-messages-reply.ts';
import { responsesToMessagesRequest } from '#shared/translate/responses-messages/responses-to-messages-request.ts';
import { ResponsesToMessagesStream } from '#shared/translate/responses-messages/responses-to-messages-stream.ts';
import { recallResponses } from '#shared/translate/responses/recall-request.ts';
import type { Minted } from '#shared/translate/translation.ts';
import { runStream } from '../run-stream.ts';

const { seal, unseal } = sealer(randomBytes(32));
const sealing: JsonObject = { store: false, include: ['reasoning.encrypted_content'] };

function mintedFor(request: JsonObject): Minted {
  const recalled = recallResponses({ model: 'up', input: 'hi', ...request });
  return { id: 'resp_1', model: 'up', created: 7, promptTokens: () => 11, recalled, seal };
}

const start = {
  type: 'message_start',
  message: {
    id: 'x',
    content: [],
    usage: { input_tokens: 20, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 1 },
  },
};
const open = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const ending = (stop_reason: string, more: object = {}) => [
  {
    type: 'message_delta',
    delta: { stop_reason, ...more },
    usage: { input_tokens: null, output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
  },
  { type: 'message_stop' },
];

function run(events: readonly (object | string)[], request: JsonObject = {}) {
  return runStream(new ResponsesToMessagesStream(mintedFor(request)), events);
}

/** Reads a stream as the official SDK does. */
async function read(stream: string): Promise<{ response: ResponseObject; events: ResponseStreamEvent[] }> {
  const answer = new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  const client = new OpenAI({ apiKey: 'k', fetch: () => Promise.resolve(answer), maxRetries: 0 });
  const events: ResponseStreamEvent[] = [];
  const streamed = client.responses.stream({ model: 'up', input: 'hi' });
  streamed.on('event', (event) => events.push(event));
  return { response: await streamed.finalResponse(), events };
}

const tools = [
  { type: 'custom', name: 'patch' },
  { type: 'namespace', name: 'mcp__x', tools: [{ type: 'function', name: 'g' }] },
];

const everything = [
  start,
  { type: 'ping' },
  open(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'h' }),
  delta(0, { type: 'thinking_delta', thinking: 'm' }),
  delta(0, { type: 'signature_delta', signature: 'c2' }),
  delta(0, { type: 'signature_delta', signature: 'ln' }),
  stop(0),
  open(1, { type: 'redacted_thinking', data: 'opaque' }),
  stop(1),
  open(2, { type: 'thinking', thinking: '', signature: '' }),
  delta(2, { type: 'signature_delta', signature: 'hidden' }),
  stop(2),
  open(3, { type: 'text', text: 'He' }),
  delta(3, { type: 'text_delta', text: 'llo' }),
  delta(3, { type: 'citations_delta', citation: {} }),
  stop(3),
  open(4, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
  delta(4, { type: 'input_json_delta', partial_json: '{"query":' }),
  delta(4, { type: 'input_json_delta', partial_json: '"q"}' }),
  stop(4),
  open(5, { type: 'tool_use', id: 'a', name: 'patch', input: {} }),
  delta(5, { type: 'input_json_delta', partial_json: '' }),
  delta(5, { type: 'input_json_delta', partial_json: '{"input": "*** \\u00' }),
  delta(5, { type: 'input_json_delta', partial_json: 'e9\\n"}' }),
  stop(5),
  open(6, { type: 'tool_use', id: 'b', name: 'mcp__x__g', input: {} }),
  stop(6),
  open(7, { type: 'tool_use', id: 'c', name: 'h', input: { y: 2 } }),
  stop(7),
  { type: 'something_new' },
  ...ending('tool_use'),
];

/** The blocks of that stream as an answer that is not streamed. */
const whole: JsonObject = {
  content: [
    { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'opaque' },
    { type: 'thinking', thinking: '', signature: 'hidden' },
    { type: 'text', text: 'Hello', citations: [{}] },
    { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
    { type: 'tool_use', id: 'a', name: 'patch', input: { input: '*** é\n' } },
    { type: 'tool_use', id: 'b', name: 'mcp__x__g', input: {} },
    { type: 'tool_use', id: 'c', name: 'h', input: { y: 2 } },
  ],
  stop_reason: 'tool_use',
  usage: {
    input_tokens: 20,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 3,
    output_tokens: 9,
    output_tokens_details: { thinking_tokens: 4 },
  },
};

describe('a Responses stream from a messages upstream', () => {
  it('has an item for each block, in their order, and the usage', async () => {
    const { text, ending: end } = run(everything, { ...sealing, tools });
    const { response, events } = await read(text);
    expect(response.output).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }], summary: [] },
      { type: 'reasoning', content: [], summary: [] },
      { type: 'reasoning', content: [], summary: [] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'web_search_call', id: 'ws_0_1', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: '*** é\n' },
      { type: 'function_call', call_id: 'b', name: 'g', namespace: 'mcp__x', arguments: '{}' },
      { type: 'function_call', call_id: 'c', name: 'h', arguments: '{"y":2}' },
    ]);
    expect(response).toMatchObject({
      id: 'resp_1',
      model: 'up',
      status: 'completed',
      usage: {
        input_tokens: 28,
        input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
        output_tokens: 9,
        output_tokens_details: { reasoning_tokens: 4 },
        total_tokens: 37,
      },
    });
    expect(end).toMatchObject({ finishReason: 'tool_calls', usage: { cachedTokens: 5, completionTokens: 9 } });
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
    expect(events[0]?.type).toBe('response.created');
    expect(events.at(-1)?.type).toBe('response.completed');
  });

  it('is the same as the answer that is not streamed', async () => {
    const { response } = await read(run(everything, { ...sealing, tools }).text);
    const { body, ending: end } = responsesToMessagesReply(whole, mintedFor({ ...sealing, tools }));
    expect(response.output).toMatchObject(body['output'] as object[]);
    expect(response.usage).toEqual(body['usage']);
    expect(end).toEqual(run(everything, { ...sealing, tools }).ending);
  });

  it('gives thinking back to its upstream byte for byte', async () => {
    const { response } = await read(run(everything, { ...sealing, tools }).text);
    const results = ['a', 'b', 'c'].map((id) => ({ type: 'function_call_output', call_id: id, output: 'ok' }));
    const input = [{ role: 'user', content: 'hi' }, ...response.output, ...results] as JsonObject[];
    const { messages } = responsesToMessagesRequest({ model: 'up', input, tools }, { model: 'up', unseal });
    const { content } = (messages as JsonObject[])[1] ?? {};
    expect(content).toEqual(
      (whole['content'] as JsonObject[])
        .filter(({ type }) => type !== 'server_tool_use')
        .map((block) => (block['type'] === 'text' ? { type: 'text', text: 'Hello' } : block)),
    );
  });

  it.each<[string, JsonObject, boolean]>([
    ['asked for', sealing, true],
    ['to be stored', {}, true],
    ['neither', { store: false }, false],
    ['neither, with other includes', { store: false, include: ['web_search_call.results'] }, false],
  ])('seals thinking that is %s: %j', async (_, request, sealed) => {
    const { response } = await read(run(everything, { ...request, tools }).text);
    const contents = response.output.flatMap((item) => (item.type === 'reasoning' ? [item.encrypted_content] : []));
    expect(contents).toHaveLength(3);
    for (const content of contents) {
      expect(typeof content === 'string').toBe(sealed);
      expect(content ?? '').not.toContain('opaque');
    }
  });

  it('has the thinking as summary where the client asks for one', async () => {
    const { response } = await read(run(everything, { reasoning: { summary: 'auto' }, tools }).text);
    expect(response.output[0]).toMatchObject({ summary: [{ type: 'summary_text', text: 'hm' }] });
  });

  it('has thinking without a signature, which nothing is sealed of', async () => {
    const events = [start, open(0, { type: 'thinking', thinking: 'hm' }), stop(0), ...ending('end_turn')];
    const { response } = await read(run(events, sealing).text);
    const input = [...response.output, { role: 'user', content: 'hi' }] as JsonObject[];
    expect(response.output).toMatchObject([{ type: 'reasoning', content: [{ text: 'hm' }] }]);
    expect(responsesToMessagesRequest({ model: 'up', input }, { model: 'up', unseal })['messages']).toEqual([
      { role: 'user', content: 'hi' },
    ]);
  });

  it.each([
    ['end_turn', 'completed', null],
    ['stop_sequence', 'completed', null],
    ['max_tokens', 'incomplete', 'max_output_tokens'],
    ['model_context_window_exceeded', 'incomplete', 'max_output_tokens'],
    ['pause_turn', 'completed', null],
    ['refusal', 'incomplete', 'content_filter'],
  ])('has for %s the status %s', async (stopReason, status, reason) => {
    const { response } = await read(run([start, ...ending(stopReason)]).text);
    expect(response.status).toBe(status);
    expect(response.incomplete_details?.reason ?? null).toBe(reason);
  });

  it('has the reason of a refusal, as refusal', async () => {
    const refusal = { stop_details: { type: 'refusal', explanation: 'no' } };
    const { response } = await read(run([start, ...ending('refusal', refusal)]).text);
    expect(response.output).toMatchObject([{ type: 'message', content: [{ type: 'refusal', refusal: 'no' }] }]);
  });

  it('has estimated usage if the upstream reports none', () => {
    const events = [
      { type: 'message_start', message: { id: 'x', content: [] } },
      open(0, { type: 'text', text: 'twelve chars' }),
      stop(0),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ];
    expect(run(events).ending.usage).toMatchObject({ promptTokens: 11, completionTokens: 3 });
  });

  it('has content from the first thinking on, although it is not shown', () => {
    const stream = new ResponsesToMessagesStream(mintedFor({}));
    stream.event(JSON.stringify(start));
    expect(stream.hasContent).toBe(false);
    stream.event(JSON.stringify(open(0, { type: 'thinking', thinking: '', signature: '' })));
    expect(stream.hasContent).toBe(true);
  });

  it.each([
    ['stops early', [start, open(0, { type: 'text', text: 'a' })], 'upstream_failed'],
    ['says nothing', [], 'upstream_failed'],
    ['is not JSON', [start, '{'], 'upstream_failed'],
    ['breaks down', [start, { type: 'error', error: { type: 'api_error', message: 'x' } }], 'upstream_failed'],
    ['is overloaded', [start, { type: 'error', error: { type: 'overloaded_error', message: 'x' } }], 'overloaded'],
  ])('fails when the upstream %s', (_, events, code) => {
    expect(() => run(events)).toThrow(expect.objectContaining({ code }));
  });

  it('fails when an answer that is not streamed has no content, or is an error', () => {
    const reply = (body: JsonObject) => () => responsesToMessagesReply(body, mintedFor({}));
    expect(reply({})).toThrow(expect.objectContaining({ code: 'upstream_failed' }));
    expect(reply({ type: 'error', error: { type: 'overloaded_error', message: 'x' } })).toThrow(
      expect.objectContaining({ code: 'overloaded' }),
    );
    expect(isJsonObject(responsesToMessagesReply({ content: [] }, mintedFor({})).body)).toBe(true);
  });
});
