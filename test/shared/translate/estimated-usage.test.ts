import { countTokens } from 'gpt-tokenizer';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { translationBetween } from './translation-between.ts';
import type { Minted } from '#shared/translate/translation.ts';
import { runStream } from './run-stream.ts';

const minted: Minted = { id: 'id_1', model: 'm', created: 1, promptTokens: () => 7 };
const thinking = 'The question is about the coast in spring, so the weather there comes first.';
const text =
  'In spring the coast is windy and cool; "dress warmly", people say, and bring a coat that keeps out the rain. ' +
  'Most visitors come in summer, when the water is warm enough for swimming and the days are long. — Así es.';
const fn = { name: 'get_weather', arguments: '{"city":"Málaga","days":3}' };
const written = thinking + text + fn.name + fn.arguments;

const chatWhole: JsonObject = {
  choices: [
    {
      message: { reasoning: thinking, content: text, tool_calls: [{ id: 'c', type: 'function', function: fn }] },
      finish_reason: 'tool_calls',
    },
  ],
};
const chatStream = [
  { reasoning: thinking },
  { content: text.slice(0, 50) },
  { content: text.slice(50) },
  { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { ...fn, arguments: '' } }] },
  { tool_calls: [{ index: 0, function: { arguments: fn.arguments } }] },
].map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] }));
const chatEnd = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };

const call = { type: 'tool_use', id: 'c', name: fn.name };
const messagesWhole: JsonObject = {
  content: [
    { type: 'thinking', thinking, signature: 's' },
    { type: 'text', text },
    { ...call, input: JSON.parse(fn.arguments) as JsonObject },
  ],
  stop_reason: 'tool_use',
};
const messagesStream = [
  { type: 'message_start', message: {} },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text } },
  { type: 'content_block_start', index: 2, content_block: { ...call, input: {} } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: fn.arguments } },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
  { type: 'message_stop' },
];

const items = [
  { id: 'rs', type: 'reasoning', content: [{ type: 'reasoning_text', text: thinking }] },
  { id: 'm', type: 'message', content: [{ type: 'output_text', text }] },
  { id: 'fc', type: 'function_call', call_id: 'c', ...fn },
];
const responsesWhole: JsonObject = { status: 'completed', output: items };
const responsesStream = [
  ...items.map((item, at) => ({ type: 'response.output_item.done', output_index: at, item })),
  { type: 'response.completed', response: { status: 'completed' } },
];

describe('the estimated tokens of an answer without usage', () => {
  it('are the same for every client, streamed or not', () => {
    const counts = [
      translationBetween('chat', 'chat').reply(structuredClone(chatWhole), minted),
      translationBetween('messages', 'chat').reply(structuredClone(chatWhole), minted),
      translationBetween('chat', 'messages').reply(messagesWhole, minted),
      runStream(translationBetween('chat', 'chat').stream(minted), [...chatStream, chatEnd, '[DONE]']),
      runStream(translationBetween('messages', 'chat').stream(minted), [...chatStream, chatEnd, '[DONE]']),
      runStream(translationBetween('chat', 'messages').stream(minted), messagesStream),
      translationBetween('chat', 'responses').reply(responsesWhole, minted),
      translationBetween('messages', 'responses').reply(responsesWhole, minted),
      runStream(translationBetween('chat', 'responses').stream(minted), responsesStream),
      runStream(translationBetween('messages', 'responses').stream(minted), responsesStream),
    ].map(({ ending }) => ending.usage.completionTokens);
    expect(new Set(counts)).toEqual(new Set([Math.ceil(Buffer.byteLength(written) / 4)]));
  });

  it.each([
    ['chat', chatWhole, [...chatStream, chatEnd, '[DONE]']],
    ['messages', messagesWhole, messagesStream],
    ['responses', responsesWhole, responsesStream],
  ] as const)('have no count of thinking that a %s upstream has not reported', (upstream, whole, stream) => {
    for (const client of ['chat', 'messages'].filter((each) => each !== upstream || each === 'chat')) {
      const translation = translationBetween(client, upstream);
      const { body } = translation.reply(structuredClone<JsonObject>(whole), minted);
      const { text: streamed } = runStream(translation.stream(minted), stream);
      expect(JSON.stringify(body) + streamed).not.toMatch(/reasoning_tokens|thinking_tokens/);
      expect(streamed).toContain('usage');
    }
  });

  it('come in a chunk of their own, without choices, where that is asked for', () => {
    for (const [upstream, stream] of [
      ['chat', [...chatStream, chatEnd, '[DONE]']],
      ['messages', messagesStream],
      ['responses', responsesStream],
    ] as const) {
      const asked = translationBetween('chat', upstream).stream({ ...minted, usageChunk: true });
      const data = runStream(asked, stream).text.split('\n\n');
      const [finish, usage] = data.slice(-4, -2).map((each) => JSON.parse(each.slice('data: '.length)) as JsonObject);
      expect([upstream, finish]).toMatchObject([upstream, { choices: [{ finish_reason: 'tool_calls' }] }]);
      expect(finish).not.toHaveProperty('usage');
      expect([upstream, usage]).toMatchObject([upstream, { choices: [], usage: { prompt_tokens: 7 } }]);
    }
  });

  it('are within about a tenth for plain prose', () => {
    const message = { content: text };
    const { ending } = translationBetween('messages', 'chat').reply(
      { choices: [{ message, finish_reason: 'stop' }] },
      minted,
    );
    const off = ending.usage.completionTokens / countTokens(text);
    expect(Math.abs(off - 1)).toBeLessThan(0.15);
  });
});
