import { countTokens } from 'gpt-tokenizer';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { clientsOf, translationBetween } from './translation-between.ts';
import type { AnswerContext } from '#shared/translate/translation.ts';
import { runStream } from './run-stream.ts';
import { callPiece, chatChunk, messageBlock } from './upstream-streams.ts';

const answerContext: AnswerContext = { id: 'id_1', model: 'm', created: 1, promptTokens: () => 7 };
const thinking = 'The question is about the coast in spring, so the weather there comes first.';
const text =
  'In spring the coast is windy and cool; "dress warmly", people say, and bring a coat that keeps out the rain. ' +
  'Most visitors come in summer, when the water is warm enough for swimming and the days are long. — Así es.';
const fn = { name: 'get_weather', arguments: '{"city":"Málaga","days":3}' };
const tokens = Math.ceil(Buffer.byteLength(thinking + text + fn.name + fn.arguments) / 4);

const message = { reasoning: thinking, content: text, tool_calls: [{ id: 'c', type: 'function', function: fn }] };
const chatWhole: JsonObject = { choices: [{ message, finish_reason: 'tool_calls' }] };
const chatStream = [
  chatChunk({ reasoning: thinking }),
  chatChunk({ content: text.slice(0, 50) }),
  chatChunk({ content: text.slice(50) }),
  callPiece(0, '', fn.name),
  callPiece(0, fn.arguments),
  chatChunk({}, 'tool_calls'),
  '[DONE]',
];

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
  ...messageBlock(0, { type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking }),
  ...messageBlock(1, { type: 'text', text: '' }, { type: 'text_delta', text }),
  ...messageBlock(2, { ...call, input: {} }, { type: 'input_json_delta', partial_json: fn.arguments }),
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

const answers = [
  ['chat', chatWhole, chatStream],
  ['messages', messagesWhole, messagesStream],
  ['responses', responsesWhole, responsesStream],
] as const;

describe.each(answers)(
  'the estimated tokens of an answer of a %s upstream without usage',
  (upstream, whole, stream) => {
    // Usage that a messages or Responses upstream reports passes unchanged to clients of its format.
    const clients = clientsOf(upstream).filter((client) => client === 'chat' || client !== upstream);

    it.each(clients)('are the same for a %s client, streamed or not, without a count of thinking', (client) => {
      const translation = translationBetween(client, upstream);
      const reply = translation.translateReply(structuredClone<JsonObject>(whole), answerContext);
      const streamed = runStream(translation.createStream(answerContext), stream);
      for (const { ending } of [reply, streamed]) expect(ending.usage.completionTokens).toBe(tokens);
      // The Responses format requires a count, so it is estimated.
      const counts = client === 'responses' ? /thinking_tokens/ : /reasoning_tokens|thinking_tokens/;
      expect(JSON.stringify(reply.body) + streamed.text).not.toMatch(counts);
      expect(streamed.text).toContain('usage');
    });
  },
);

it.each([
  ['chat', chatStream],
  ['responses', responsesStream],
])('the estimated tokens of a %s upstream count thinking that the client does not get', (upstream, stream) => {
  const hiding = { ...answerContext, recalled: { thinking: 'none' } };
  const { text: events, ending } = runStream(translationBetween('messages', upstream).createStream(hiding), stream);
  expect(events).not.toContain('coast in spring, so');
  expect(ending.usage.completionTokens).toBe(tokens);
});

it('the estimated tokens of plain prose are within about a tenth', () => {
  const answer = { choices: [{ message: { content: text }, finish_reason: 'stop' }] };
  const { ending } = translationBetween('messages', 'chat').translateReply(answer, answerContext);
  expect(Math.abs(ending.usage.completionTokens / countTokens(text) - 1)).toBeLessThan(0.15);
});
