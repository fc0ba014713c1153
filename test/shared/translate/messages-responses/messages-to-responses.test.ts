import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { readRelayedMessage } from '#shared/formats/messages/read-relayed-message.ts';
import { parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { messagesToMessages } from '#shared/translate/same-format/messages-to-messages.ts';
import { messagesToResponses } from '#shared/translate/messages-responses/messages-to-responses.ts';
import { assembleMessage, namedEvents } from '../assemble-message.ts';
import { recordedStream, runRecorded } from '../run-stream.ts';

const answerContext = { origin: 'here', id: 'msg_1', model: 'gpt-codex', created: 7, promptTokens: () => 11 };
const user = { role: 'user', content: 'Weather?' };

const read = (bytes: Buffer) => assembleMessage(runRecorded(messagesToResponses.createStream(answerContext), bytes));
const openai = (name: string) => read(recordedStream('providers/openai-responses', name));

function request(messages: object[], model = 'gpt-codex', more: object = {}, origin = 'here'): JsonObject {
  const body = parseMessagesRequest({ model, max_tokens: 100, messages, ...more });
  return messagesToResponses.translateRequest(body, { model, encrypts: true, origin });
}

const whole = JSON.parse(readFileSync('test/fixtures/providers/openai-responses/whole.json', 'utf8')) as JsonObject & {
  output: JsonObject[];
};

describe("a Responses upstream's stream, for a messages client", () => {
  it('has its items as blocks, in order', () => {
    const message = openai('tools');
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: expect.stringContaining('**Choosing a tool**') as string },
      { type: 'text', text: "I'll look up both cities – São Paulo too." },
      { type: 'tool_use', id: 'call_kJ3nLpQ8sT2vXzB5cF7hR9wY', name: 'get_weather', input: { city: 'Oslo' } },
      { type: 'tool_use', id: 'call_mN4oMqR9tU3wYaC6dG8iS0xZ', name: 'get_weather', input: { city: 'São Paulo' } },
    ]);
    expect(message.delta).toMatchObject({ stop_reason: 'tool_use' });
    const input = { input_tokens: 156, cache_creation_input_tokens: 0, cache_read_input_tokens: 256 };
    const output = { output_tokens: 187, output_tokens_details: { thinking_tokens: 128 } };
    expect(message.usage).toMatchObject({ ...input, ...output });
  });

  it('has the content of the whole answer', () => {
    expect(openai('tools').content).toEqual(messagesToResponses.translateReply(whole, answerContext).body['content']);
  });

  it('has a refusal as text with its own stop reason, after thinking without text', () => {
    const { content, delta } = openai('refusal');
    expect(content).toMatchObject([
      { type: 'thinking', thinking: '', signature: expect.stringMatching(/^model-router-reasoning\./) as string },
      { type: 'text', text: "I can't help with that." },
    ]);
    expect(delta).toMatchObject({ stop_reason: 'refusal' });
  });

  it.each(['providers/openai-responses', 'engines/llama-cpp'] as const)(
    'from %s is continued by no worker if the client does not get its thinking',
    (folder) => {
      const bytes = recordedStream(folder, folder === 'engines/llama-cpp' ? 'responses-thinking-stream' : 'refusal');
      const hiding = { ...answerContext, recalled: { thinking: 'none' } };
      const events = namedEvents(runRecorded(messagesToResponses.createStream(hiding), bytes));
      expect(events.filter(({ type }) => type === 'ping')).toHaveLength(2);
      expect(readRelayedMessage(events)).toBe('there is thinking that the client does not get');
    },
  );

  it.each(['responses-thinking-stream', 'responses-tool-stream'])('from llama-server has valid blocks: %s', (name) => {
    const kinds = read(recordedStream('engines/llama-cpp', name)).content.map(({ type }) => type);
    expect(kinds).toEqual(name.includes('tool') ? ['text', 'tool_use'] : ['thinking', 'text']);
  });
});

describe('encrypted thinking', () => {
  it('returns as the same reasoning item in the next turn', () => {
    const { content } = openai('tools');
    const results = ['call_kJ3nLpQ8sT2vXzB5cF7hR9wY', 'call_mN4oMqR9tU3wYaC6dG8iS0xZ'].map((id) => {
      return { type: 'tool_result', tool_use_id: id, content: 'Rain.' };
    });
    const { input } = request([user, { role: 'assistant', content }, { role: 'user', content: results }]);
    const said = { type: 'output_text', text: "I'll look up both cities – São Paulo too." };
    expect(input).toEqual([
      { type: 'message', role: 'user', content: 'Weather?' },
      {
        type: 'reasoning',
        id: 'rs_0a1b2c3d4e5f60710001',
        encrypted_content: 'gAAAAABpEncryptedThinking0001==',
        summary: [{ type: 'summary_text', text: (content[0] as { thinking: string }).thinking }],
      },
      { type: 'message', role: 'assistant', content: [said] },
      ...whole.output.slice(2).map(({ call_id, name, arguments: json }) => {
        return { type: 'function_call', call_id, name, arguments: json };
      }),
      ...results.map(({ tool_use_id: id }) => ({ type: 'function_call_output', call_id: id, output: 'Rain.' })),
    ]);
  });

  it('is sent to no other model or upstream, and never to a messages upstream', () => {
    const messages = [user, { role: 'assistant', content: openai('refusal').content }, user];
    const types = (model: string, origin?: string) =>
      (request(messages, model, {}, origin)['input'] as JsonObject[]).map(({ type }) => type);
    expect(types('gpt-codex')).toEqual(['message', 'reasoning', 'message', 'message']);
    expect(types('gpt-codex', 'there')).toEqual(['message', 'message', 'message']);
    expect(types('gpt-pro')).toEqual(['message', 'message', 'message']);
    const body = parseMessagesRequest({ model: 'm', max_tokens: 9, messages });
    expect(JSON.stringify(messagesToMessages.translateRequest(body, { model: 'm' }))).not.toContain('thinking');
  });

  it('is requested with a summary unless the client omits its text', () => {
    const asked = (more: object) => request([user], 'm', more);
    expect(asked({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } })).toMatchObject({
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
    });
    expect(asked({ thinking: { type: 'adaptive', display: 'omitted' } })['reasoning']).toEqual({ effort: 'high' });
    const off = asked({ thinking: { type: 'disabled' } });
    expect(off['reasoning']).toEqual({ effort: 'none' });
    expect(off).not.toHaveProperty('include');
    const body = parseMessagesRequest({ model: 'm', max_tokens: 9, messages: [user], thinking: { type: 'adaptive' } });
    expect(messagesToResponses.translateRequest(body, { model: 'm' })).not.toHaveProperty('include');
  });
});

describe('a tool result for a Responses upstream', () => {
  const called = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] };
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aa' } };
  const output = (content: unknown, more: object = {}) => {
    const result = { type: 'tool_result', tool_use_id: 't', content, ...more };
    const { input } = request([user, called, { role: 'user', content: [result, { type: 'text', text: 'Go on.' }] }]);
    return (input as JsonObject[]).slice(2);
  };

  it("is a text, or a list if it has an image, before the user's text", () => {
    const go = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] };
    expect(output('r')).toEqual([{ type: 'function_call_output', call_id: 't', output: 'r' }, go]);
    const parts = [
      ...['Error: ', 'see'].map((text) => ({ type: 'input_text', text })),
      { type: 'input_image', image_url: 'data:image/png;base64,aa' },
    ];
    const failed = output([{ type: 'text', text: 'see' }, image], { is_error: true });
    expect(failed).toEqual([{ type: 'function_call_output', call_id: 't', output: parts }, go]);
  });
});
