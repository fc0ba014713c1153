import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { readRepeatedFields } from '#shared/formats/responses/response-object.ts';
import { responsesToResponsesRequest } from '#shared/translate/same-format/responses-to-responses.ts';
import { ResponsesToResponsesStream } from '#shared/translate/same-format/responses-to-responses-stream.ts';
import { sdkAnswer } from '../../../helpers/clients/sdk-answer.ts';
import { responseEvents } from '../responses/assemble-response.ts';
import { recordedStream, runRecorded, runStream } from '../run-stream.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const upstreamId = 'resp_0a1b2c3d4e5f60718293a4b5c6d7e8f90123456789abcdef';
const recalled = { repeated: readRepeatedFields({ store: false, tools: [{ type: 'function', name: 'get_weather' }] }) };
const answerContext = { id: 'resp_router', model: 'gpt-5.1-codex', created: 7, promptTokens: () => 11, recalled };

const stream = () => new ResponsesToResponsesStream(answerContext);
const openai = (name: string) => recordedStream('providers/openai-responses', name);

/** Translates the events of a recorded stream, without its end. */
function begun(name: string) {
  const translation = stream();
  const recorded = openai(name).toString();
  const text = [...recorded.matchAll(/^data: (.*)$/gm)]
    .map(([, data = '']) => translation.translateEvent(data))
    .join('');
  return { text, ending: translation.translateEnd().ending };
}

describe("a Responses upstream's stream, for a Responses client", () => {
  it.each(['tools', 'refusal', 'incomplete', 'custom', 'words'])(
    'passes byte for byte except for id and model: %s',
    (name) => {
      const text = runRecorded(stream(), openai(name));
      const raw = openai(name).toString();
      expect(text).not.toBe(raw);
      const unchanged = text.replaceAll('"id":"resp_router"', `"id":"${upstreamId}"`);
      expect(unchanged.replaceAll('"model":"gpt-5.1-codex"', '"model":"gpt-5.1-codex-2026-03-05"')).toBe(raw);
    },
  );

  it('marks its encrypted content, so that the upstream gets it back unmarked and other upstreams do not get it', () => {
    const text = runRecorded(new ResponsesToResponsesStream({ ...answerContext, origin: 'here' }), openai('tools'));
    const plain = runRecorded(stream(), openai('tools'));
    expect(text).not.toBe(plain);
    expect(text.replaceAll('"encrypted_content":"rtr.here.', '"encrypted_content":"')).toBe(plain);
    const response = responseEvents(text).at(-1)?.['response'] as { output: JsonObject[] };
    const { output } = response;
    const next = { model: 'm', store: false, input: output };
    const back = responsesToResponsesRequest(next, { model: 'm', origin: 'here' });
    const thinking = JSON.stringify(back['input']).match(/"encrypted_content":"[^"]+"/)?.[0] ?? 'none';
    expect(plain).toContain(thinking);
    const elsewhere = responsesToResponsesRequest(next, { model: 'm', origin: 'there' });
    expect(JSON.stringify(elsewhere['input'])).not.toContain('encrypted_content');
    expect(elsewhere['input']).toEqual(output.filter(({ type }) => type !== 'reasoning'));
  });

  it('reports the fields that the client has asked the router to store', () => {
    const asked = {
      ...answerContext,
      recalled: { repeated: readRepeatedFields({ previous_response_id: 'resp_before' }) },
    };
    const text = runRecorded(new ResponsesToResponsesStream(asked), openai('words'));
    expect(text.match(/"store":true/g)).toHaveLength(3);
    expect(text.match(/"previous_response_id":"resp_before"/g)).toHaveLength(3);
    expect(text).not.toContain('"store":false');
  });

  it("changes only the router's fields, even if others look the same", () => {
    const response = { id: 'resp_up', model: 'm', metadata: { id: 'resp_up', model: 'm' }, tools: [], output: [] };
    const { text } = runStream(stream(), [
      { type: 'response.created', sequence_number: 0, response },
      { type: 'response.completed', sequence_number: 1, response: { ...response, status: 'completed' } },
    ]);
    const [, created = ''] = /data: (.*)/.exec(text) ?? [];
    const own = { ...response, id: 'resp_router', model: 'gpt-5.1-codex' };
    expect(JSON.parse(created)).toEqual({ type: 'response.created', sequence_number: 0, response: own });
  });

  it.each([
    ['tools', 'tool_calls'],
    ['custom', 'tool_calls'],
    ['incomplete', 'length'],
    ['words', 'stop'],
  ])('ends with its finish reason and usage: %s', (name, finishReason) => {
    const cache = { cachedTokens: 256, cacheWriteTokens: 0 };
    const usage = { promptTokens: 412, ...cache, completionTokens: 187, reasoningTokens: 128 };
    expect(begun(name).ending).toEqual({ finishReason, usage });
  });

  it.each([
    ['fails', 'rate_limit_exceeded'],
    ['error', 'overloaded'],
  ])('that %s before any content is an error: %s', (name, code) => {
    expect(() => runRecorded(stream(), openai(name))).toThrow(errorWith(code));
  });

  it('passes its failure if it fails after content', () => {
    const { text, ending } = begun('breaks');
    expect(text).toMatch(/event: response\.failed\ndata: .*"id":"resp_router".*"code":"server_error"/);
    expect(ending.finishReason).toBe('error');
  });

  it('may have types at the end of its events, as vLLM sends them', () => {
    const { text } = runStream(stream(), [
      { response: { id: 'r', model: 'm', tools: [] }, sequence_number: 0, type: 'response.created' },
      { delta: '"type":"x"}', item_id: 'i', output_index: 0, sequence_number: 1, type: 'response.output_text.delta' },
      { response: { id: 'r', status: 'completed', tools: [] }, sequence_number: 2, type: 'response.completed' },
    ]);
    const types = ['created', 'output_text.delta', 'completed'];
    expect(text.match(/^event: (.*)$/gm)).toEqual(types.map((type) => `event: response.${type}`));
    expect(text.match(/"id":"resp_router"/g)).toHaveLength(2);
  });
});

describe("the official SDK on llama-server's stream, which lacks fields that the SDK needs", () => {
  it.each(['thinking-stream', 'tool-stream'])('assembles it once the router has completed it: %s', async (name) => {
    const text = runRecorded(stream(), recordedStream('engines/llama-cpp', `responses-${name}`));
    const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, at) => at));
    const events = [];
    const runner = new OpenAI(sdkAnswer(text)).responses.stream({ model: 'm', input: 'hi' });
    for await (const event of runner) events.push(event.type);
    const response = await runner.finalResponse();
    const own = { id: 'resp_router', status: 'completed', store: false, tools: [{ name: 'get_weather' }] };
    expect(response).toMatchObject({ ...own, usage: { output_tokens_details: { reasoning_tokens: 0 } } });
    if (name === 'tool-stream') {
      const call = response.output.find((item) => item.type === 'function_call');
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ city: 'Paris', days: 1 });
      expect(events).toContain('response.function_call_arguments.done');
    } else {
      expect(response.output[0]).toMatchObject({ type: 'reasoning', content: [{ type: 'reasoning_text' }] });
      expect(response.output_text).not.toBe('');
      expect(events).toContain('response.reasoning_text.done');
    }
  });
});
