import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { translationBetween } from './translation-between.ts';

type Required<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? never : Key }[keyof T];
/** The names of the fields that a type requires. A field that a later version of the SDK requires fails the type check. */
type Names<T> = Record<Required<T>, true>;

const message: Names<Anthropic.Message> = {
  id: true,
  container: true,
  content: true,
  diagnostics: true,
  model: true,
  role: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
  type: true,
  usage: true,
};
const usage: Names<Anthropic.Usage> = {
  cache_creation: true,
  cache_creation_input_tokens: true,
  cache_read_input_tokens: true,
  inference_geo: true,
  input_tokens: true,
  output_tokens: true,
  output_tokens_details: true,
  server_tool_use: true,
  service_tier: true,
  speed: true,
};
const text: Names<Anthropic.TextBlock> = { type: true, text: true, citations: true };
const toolUse: Names<Anthropic.ToolUseBlock> = { type: true, id: true, name: true, input: true, caller: true };
const deltaUsage: Names<Anthropic.MessageDeltaUsage> = {
  cache_creation_input_tokens: true,
  cache_read_input_tokens: true,
  input_tokens: true,
  output_tokens: true,
  output_tokens_details: true,
  server_tool_use: true,
};
const delta: Names<Anthropic.RawMessageDeltaEvent['delta']> = {
  container: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
};
const completion: Names<OpenAI.ChatCompletion> = { id: true, choices: true, created: true, model: true, object: true };
const choice: Names<OpenAI.ChatCompletion.Choice> = { finish_reason: true, index: true, logprobs: true, message: true };
const chatMessage: Names<OpenAI.ChatCompletionMessage> = { content: true, refusal: true, role: true };

const minted = { id: 'own', model: 'served', created: 7 };
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const answers: Record<string, JsonObject> = {
  chat: { choices: [{ message: { role: 'assistant', content: 'a', tool_calls: [call] }, finish_reason: 'stop' }] },
  messages: { content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn', usage: {} },
  responses: {
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ],
  },
};

function has(object: unknown, names: Record<string, true>): void {
  expect(Object.keys(object as object)).toEqual(expect.arrayContaining(Object.keys(names)));
}

describe.each(['chat', 'messages', 'responses'])("a %s upstream's answer", (upstream) => {
  it('has all fields that the types for a chat client require', () => {
    const { body } = translationBetween('chat', upstream).reply(answers[upstream] ?? {}, minted);
    has(body, completion);
    const [first] = body['choices'] as [JsonObject];
    has(first, choice);
    has(first['message'], chatMessage);
  });
});

describe.each(['chat', 'responses'])("a %s upstream's answer", (upstream) => {
  const translation = translationBetween('messages', upstream);

  it('has all fields that the types for a messages client require', () => {
    const { body } = translation.reply(answers[upstream] ?? {}, minted);
    has(body, message);
    has(body['usage'], usage);
    const [first, second] = body['content'] as [JsonObject, JsonObject];
    has(first, text);
    has(second, toolUse);
  });

  it('has them as a stream, too', () => {
    const events = upstream === 'chat' ? chatEvents : responsesEvents;
    const stream = translation.stream(minted);
    const written = events.map((event) => stream.event(JSON.stringify(event))).join('') + stream.end().text;
    const data = written.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
    const given = data.map((each) => JSON.parse(each) as JsonObject & { type: string });
    const started = given.find(({ type }) => type === 'message_start')?.['message'] as JsonObject;
    has(started, message);
    has(started['usage'], usage);
    const blocks = given.flatMap(({ type, content_block: block }) => (type === 'content_block_start' ? [block] : []));
    has(blocks[0], text);
    has(blocks[1], toolUse);
    const ended = given.find(({ type }) => type === 'message_delta');
    has(ended?.['delta'], delta);
    has(ended?.['usage'], deltaUsage);
  });
});

const chatEvents: JsonObject[] = [
  { choices: [{ delta: { content: 'a' } }] },
  { choices: [{ delta: { tool_calls: [{ index: 0, ...call }] } }] },
  { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
];
const said = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] };
const called = { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', arguments: '{}' };
const responsesEvents: JsonObject[] = [
  { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'a' },
  { type: 'response.output_item.done', output_index: 0, item: said },
  { type: 'response.output_item.added', output_index: 1, item: { ...called, arguments: '' } },
  { type: 'response.output_item.done', output_index: 1, item: called },
  { type: 'response.completed', response: { status: 'completed', output: [said, called] } },
];
