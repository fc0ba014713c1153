import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { chatMessageParts } from '#shared/formats/chat/message-parts.ts';
import { completionsMessageParts } from '#shared/formats/completions/completions-format.ts';
import { readEvents, type MessageParts } from '#shared/formats/message-parts.ts';
import { messagesMessageParts } from '#shared/formats/messages/message-parts.ts';
import { responsesMessageParts } from '#shared/formats/responses/message-parts.ts';
import { upstreamStreams } from '../translate/upstream-streams.ts';

const asked = 'How warm is it?';
const text = (content: string) => ({ type: 'text', content });
const thought = { type: 'reasoning', content: 'A tool knows.' };
const question = { role: 'user', parts: [text(asked)] };
const called = { type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Rome' } };
const returned = { type: 'tool_call_response', id: 'c1', response: '21 degrees' };
const blob = (modality: string, mime_type: string, length: number) => {
  return { type: 'blob', modality, mime_type, content: '', 'rtr.length': length };
};
const url = (name: string) => `https://example.com/${name}`;
const png = 'data:image/png;base64,iVBORw0K';
const sound = { format: 'wav', data: 'UklGRg==' };
const plainText = { type: 'text', media_type: 'text/plain', data: 'A long text' };
const document = (source: JsonObject) => ({ type: 'document', source });
const pdf = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };

describe('the messages of a request', () => {
  it('consist of parts: texts, thinking, tool calls and their results', () => {
    const calls = [
      { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
      { id: 'c2', type: 'custom', custom: { name: 'note', input: 'free text' } },
    ];
    const { instructions, messages } = chatMessageParts.request({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: asked }] },
        { role: 'assistant', content: null, reasoning_content: 'A tool knows.', tool_calls: calls },
        { role: 'tool', tool_call_id: 'c1', content: '21 degrees' },
      ],
    });
    expect(instructions).toEqual([]);
    const noted = { type: 'tool_call', id: 'c2', name: 'note', arguments: 'free text' };
    expect(messages).toEqual([
      { role: 'system', parts: [text('Be brief.')] },
      question,
      { role: 'assistant', parts: [thought, called, noted] },
      { role: 'tool', parts: [returned] },
    ]);
  });

  it('in the messages format have separate instructions', () => {
    const map = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0K' } };
    const results = [
      { type: 'tool_result', tool_use_id: 'c1', content: '21 degrees' },
      { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'A map:' }, map] },
    ];
    const answer = [
      { type: 'thinking', thinking: 'A tool knows.', signature: 'sealed' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Rome' } },
    ];
    const { instructions, messages } = messagesMessageParts.request({
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: asked },
        { role: 'assistant', content: answer },
        { role: 'user', content: results },
      ],
    });
    expect(instructions).toEqual([text('Be brief.')]);
    const response = [text('A map:'), blob('image', 'image/png', 8)];
    expect(messages).toEqual([
      question,
      { role: 'assistant', parts: [thought, called] },
      { role: 'user', parts: [returned, { type: 'tool_call_response', id: 'c2', response }] },
    ]);
    expect(messagesMessageParts.request({ system: 'Be kind.' }).instructions).toEqual([text('Be kind.')]);
  });

  it('in the Responses format are its items, with separate instructions', () => {
    const { instructions, messages } = responsesMessageParts.request({
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: asked },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'A tool knows.' }], encrypted_content: 'sealed' },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Rome"}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '42' },
        { type: 'function_call_output', call_id: 'c1', output: '21 degrees' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'done' }] },
        { type: 'item_reference', id: 'msg_1' },
      ],
    });
    expect(instructions).toEqual([text('Be brief.')]);
    expect(messages).toEqual([
      question,
      { role: 'assistant', parts: [thought] },
      { role: 'assistant', parts: [called] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c2', name: 'patch', arguments: '42' }] },
      { role: 'tool', parts: [returned] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c2', response: [text('done')] }] },
    ]);
    expect(responsesMessageParts.request({ input: asked }).messages).toEqual([question]);
  });

  it.each([
    { prompt: 'Once', said: ['Once'] },
    { prompt: ['Once', 'Twice'], said: ['Once', 'Twice'] },
    { prompt: [1, 2, 3], said: [] },
    { prompt: [[1], [2]], said: [] },
    { prompt: undefined, said: [] },
  ])('in the completions format are the prompts that are text: $prompt', ({ prompt, said }) => {
    const messages = said.map((each) => ({ role: 'user', parts: [text(each)] }));
    expect(completionsMessageParts.request({ prompt })).toEqual({ instructions: [], messages });
  });

  const image = { type: 'uri', modality: 'image', uri: url('a.png') };
  const fileNamed = (file_id: string, modality = 'document') => ({ type: 'file', modality, file_id });
  const byFormat = { chat: chatMessageParts, messages: messagesMessageParts, responses: responsesMessageParts };
  it.each<[keyof typeof byFormat, JsonObject, JsonObject]>([
    ['chat', { type: 'image_url', image_url: { url: png } }, blob('image', 'image/png', 8)],
    ['chat', { type: 'image_url', image_url: { url: url('a.png') } }, image],
    ['chat', { type: 'input_audio', input_audio: sound }, blob('audio', 'audio/wav', 8)],
    ['chat', { type: 'file', file: { file_id: 'file-1' } }, fileNamed('file-1')],
    ['chat', { type: 'file', file: pdf }, blob('document', 'application/pdf', 8)],
    ['messages', { type: 'image', source: { type: 'url', url: url('a.png') } }, image],
    ['messages', document({ type: 'file', file_id: 'file_1' }), fileNamed('file_1')],
    ['messages', document(plainText), blob('document', 'text/plain', 11)],
    ['responses', { type: 'input_image', image_url: png }, blob('image', 'image/png', 8)],
    ['responses', { type: 'input_image', image_url: url('a.png') }, image],
    ['responses', { type: 'input_image', file_id: 'file-1' }, fileNamed('file-1', 'image')],
    ['responses', { type: 'input_file', ...pdf }, blob('document', 'application/pdf', 8)],
    ['responses', { type: 'input_file', file_url: url('a.png') }, { ...image, modality: 'document' }],
  ])('in %s have a reference in place of %j', (format, part, reference) => {
    const said = [{ role: 'user', content: [part, { type: 'text', text: 'See.' }] }];
    const { messages } = byFormat[format].request({ messages: said, input: said });
    expect(messages[0]?.parts).toEqual([reference, text('See.')]);
  });

  const user = (...content: (JsonObject | number)[]) => ({ role: 'user', content });
  it.each<[MessageParts, JsonObject]>([
    [chatMessageParts, {}],
    [chatMessageParts, { messages: 'none' }],
    [chatMessageParts, { messages: [1, null, [], {}, { role: 'user' }, user({ type: 'unknown', data: 'x' })] }],
    [chatMessageParts, { messages: [{ role: 'assistant', tool_calls: [null, {}, { function: 1 }] }] }],
    [chatMessageParts, { messages: [user({ type: 'image_url' }, { type: 'file' }, { type: 'input_audio' })] }],
    [messagesMessageParts, {}],
    [messagesMessageParts, { system: 1, messages: {} }],
    [messagesMessageParts, { messages: [user(document({ type: 'unknown', data: 'x' }))] }],
    [messagesMessageParts, { messages: [null, 'text', user({ type: 'image' }, { type: 'unknown' }, 1)] }],
    [responsesMessageParts, {}],
    [responsesMessageParts, { input: 1 }],
    [responsesMessageParts, { input: [null, 'a', { type: 'unknown', text: 'x' }, user({ type: 'input_image' })] }],
  ])('are empty for unknown content (%#)', ({ request }, body) => {
    expect(request(body)).toEqual({ instructions: [], messages: [] });
  });

  it('keep arguments that nest too deeply as a text', () => {
    const deep = `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`;
    const calls = [{ id: 'c1', function: { name: 'deep', arguments: deep } }];
    const { messages } = chatMessageParts.request({ messages: [{ role: 'assistant', tool_calls: calls }] });
    expect(messages[0]?.parts[0]?.['arguments'] === deep).toBe(true);
  });
});

describe('the messages of an answer', () => {
  const warm = { role: 'assistant', parts: [text('Warm.')] };

  it('in the chat format are its choices', () => {
    const call = { id: 'c1', function: { name: 'weather', arguments: '{"city":' } };
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'Warm.' }, finish_reason: 'stop' },
      { index: 1, message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
    ];
    // Text that is not JSON stays as the model wrote it.
    const unread = { ...called, arguments: '{"city":' };
    expect(chatMessageParts.answer({ choices })).toEqual([
      { ...warm, finish_reason: 'stop' },
      { role: 'assistant', parts: [unread], finish_reason: 'tool_call' },
    ]);
  });

  it.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['tool_use', 'tool_call'],
    ['refusal', 'content_filter'],
    ['pause_turn', 'pause_turn'],
    [null, 'error'],
  ])('in the messages format that ended with %s have the finish reason %s', (reason, finish_reason) => {
    const body = { type: 'message', content: [{ type: 'text', text: 'Warm.' }], stop_reason: reason };
    expect(messagesMessageParts.answer(body)).toEqual([{ ...warm, finish_reason }]);
  });

  it('in the Responses format are joined in one', () => {
    const output = [
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'A tool knows.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Warm.' }] },
    ];
    const call = { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Rome"}' };
    const { answer } = responsesMessageParts;
    const parts = [thought, text('Warm.')];
    expect(answer({ status: 'completed', output })).toEqual([{ role: 'assistant', parts, finish_reason: 'stop' }]);
    const calling = { parts: [called], finish_reason: 'tool_call' };
    expect(answer({ status: 'completed', output: [call] })).toMatchObject([calling]);
    const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output };
    expect(answer(incomplete)).toMatchObject([{ finish_reason: 'length' }]);
    expect(answer({ status: 'queued', output: [] })).toEqual([]);
  });

  it('in the completions format are their texts', () => {
    const choices = [{ index: 0, text: ' upon a time', finish_reason: 'length' }];
    const expected = { role: 'assistant', parts: [text(' upon a time')], finish_reason: 'length' };
    expect(completionsMessageParts.answer({ choices })).toEqual([expected]);
    expect(completionsMessageParts.answer({ choices: [null, { text: 1 }] })).toEqual([]);
  });

  it('are empty for an error or a count', () => {
    for (const { answer } of [chatMessageParts, messagesMessageParts, responsesMessageParts])
      expect(answer({ type: 'error', error: { message: 'No.' } })).toEqual([]);
    expect(messagesMessageParts.answer({ input_tokens: 3 })).toEqual([]);
  });
});

const done = (at: number, item: object) => ({ type: 'response.output_item.done', output_index: at, item });
const items = [
  { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
  { type: 'function_call', call_id: 'c0', name: 'f', arguments: '{"x":1}' },
  { type: 'function_call', call_id: 'c1', name: 'g', arguments: '{}' },
];
const [first, ...others] = items.map((item, at) => done(at, item));
const responses = [
  { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
  first ?? {},
  ...['Hel', 'lo'].map((delta) => ({ type: 'response.output_text.delta', output_index: 1, delta })),
  ...others,
  { type: 'response.completed', response: { id: 'r', status: 'completed', output: items } },
];

/** For each stream: the number of events after which part of a text has come, and the finish reason. */
const streams: [string, MessageParts, readonly (object | string)[], number, string][] = [
  ['chat', chatMessageParts, upstreamStreams.chat, 4, 'stop'],
  ['messages', messagesMessageParts, upstreamStreams.messages, 7, 'tool_call'],
  ['responses', responsesMessageParts, responses, 3, 'tool_call'],
];

const written = (events: readonly (object | string)[]): string =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

describe.each(streams)(
  'the trace message of a stream of %s',
  (_, { answer, joinEvents: joined }, events, inText, finish_reason) => {
    const thinking = { type: 'reasoning', content: 'hm' };

    it('is joined from its events', () => {
      const f = { type: 'tool_call', id: 'c0', name: 'f', arguments: { x: 1 } };
      const parts = [thinking, text('Hello'), f, { type: 'tool_call', id: 'c1', name: 'g', arguments: {} }];
      const read = readEvents(`: waiting\n\n${written(events)}`);
      expect(answer(joined(read))).toEqual([{ role: 'assistant', parts, finish_reason }]);
    });

    it('has the content so far if the stream was cut off', () => {
      const begun = written(events.slice(0, inText + 1)).slice(0, -5);
      const parts = [thinking, text(expect.stringMatching(/^Hel?$/) as string)];
      expect(answer(joined(readEvents(begun)))).toEqual([{ role: 'assistant', parts, finish_reason: 'error' }]);
    });
  },
);

it('the trace messages of a stream of completions are joined from its chunks, one for each choice', () => {
  const chunk = (index: number, text: string, finish_reason: string | null = null) => ({
    choices: [{ index, text, finish_reason }],
  });
  const { answer, joinEvents } = completionsMessageParts;
  const stream = written([chunk(0, 'a'), chunk(1, 'x'), chunk(0, 'b', 'stop')]);
  expect(answer(joinEvents(readEvents(stream)))).toEqual([
    { role: 'assistant', parts: [text('ab')], finish_reason: 'stop' },
    { role: 'assistant', parts: [text('x')], finish_reason: 'error' },
  ]);
});
