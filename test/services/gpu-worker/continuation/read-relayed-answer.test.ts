import { describe, expect, it } from 'vitest';
import { readRelayedAnswer } from '#services/gpu-worker/continuation/read-relayed-answer.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { embeddingsFormat } from '#shared/formats/embeddings/embeddings-format.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { completionsFormat } from '#shared/formats/completions/completions-format.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { writeDataEvent, writeNamedEvent } from '#shared/formats/sse/encode.ts';

const data = (...events: object[]): string => events.map((event) => writeDataEvent(JSON.stringify(event))).join('');
const named = (...events: { type: string }[]): string =>
  events.map((event) => writeNamedEvent(event.type, JSON.stringify(event))).join('');

function read(format: ClientFormat, text: string, answerId?: string) {
  return readRelayedAnswer(Buffer.from(text), format, answerId);
}

const chunk = (delta: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  created: 5,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }],
});
const role = chunk({ role: 'assistant', content: '' });
const piece = (text: string, more: object = {}) => ({
  id: 'cmpl-1',
  created: 6,
  choices: [{ index: 0, text, logprobs: null, finish_reason: null, ...more }],
});
const start = {
  type: 'message_start',
  message: { id: 'msg_1', usage: { input_tokens: 7, cache_read_input_tokens: 3 } },
};
const ping = { type: 'ping' };
const block = (index: number, type: string) => ({
  type: 'content_block_start',
  index,
  content_block: { type, text: '' },
});
const textDelta = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const created = { type: 'response.created', sequence_number: 0, response: { id: 'resp_1', created_at: 8 } };
const added = (type: string, at = 0) => ({ type: 'response.output_item.added', output_index: at, item: { type } });
const part = { type: 'response.content_part.added', output_index: 0, content_index: 0, part: { type: 'output_text' } };
const outputText = (delta: string, more: object = {}) => ({
  type: 'response.output_text.delta',
  output_index: 0,
  delta,
  ...more,
});

describe('the part of an answer that a client has', () => {
  it('is read from chat chunks', () => {
    const begun = read(chatFormat, data(role, chunk({ content: 'Hello' }), chunk({ content: ' 漢', tool_calls: [] })));
    expect(begun).toEqual({ id: 'chatcmpl-1', created: 5, pieces: ['Hello 漢'] });
  });

  it('is read from the chunks of a text completion', () => {
    const begun = read(completionsFormat, data(piece('a'), piece(' b')));
    expect(begun).toEqual({ id: 'cmpl-1', created: 6, pieces: ['a b'] });
  });

  it('is read from the events of a message, with its input tokens', () => {
    const events = named(start, ping, block(0, 'text'), textDelta('a'), textDelta('\n'));
    expect(read(messagesFormat, events)).toEqual({ id: 'msg_1', inputTokens: 10, pieces: ['a\n'] });
  });

  it('is read from the events of a response, one piece per event', () => {
    const events = named(created, added('message'), part, outputText('a', { logprobs: [] }), outputText('b'));
    const begun = read(responsesFormat, events, 'resp_1');
    expect(begun).toEqual({ id: 'resp_1', created: 8, events: 5, pieces: ['a', 'b'] });
  });

  const chat = (...events: object[]) => data(role, ...events);
  it.each([
    ['a tool call', chatFormat, chat(chunk({ tool_calls: [{ index: 0 }] }))],
    ['thinking', chatFormat, chat(chunk({ reasoning_content: 'Hm' }))],
    ['a refusal', chatFormat, chat(chunk({ refusal: 'No' }))],
    ['an annotation', chatFormat, chat(chunk({ content: 'a', annotations: [{ type: 'url_citation' }] }))],
    ['a second choice', chatFormat, chat(chunk({ content: 'a' }, { index: 1 }))],
    ['log probabilities', chatFormat, chat(chunk({ content: 'a' }, { logprobs: { content: [{ token: 'a' }] } }))],
    ['an end', chatFormat, chat(chunk({}, { finish_reason: 'stop' }))],
    ['the mark of the end', chatFormat, `${chat(chunk({ content: 'a' }))}data: [DONE]\n\n`],
    ['half a character', chatFormat, chat(chunk({ content: 'a\ud83d' }))],
    ['a part of an event', chatFormat, `${chat(chunk({ content: 'a' }))}data: {"id"`],
    ['a second answer', completionsFormat, data(piece('a', { index: 1 }))],
    ['an end', completionsFormat, data(piece('', { finish_reason: 'length' }))],
    ['thinking', messagesFormat, named(start, ping, block(0, 'thinking'))],
    ['thinking that is not shown', messagesFormat, named(start, ping, ping, block(0, 'text'), textDelta('a'))],
    ['a tool call', messagesFormat, named(start, ping, block(0, 'tool_use'))],
    ['a second block', messagesFormat, named(start, ping, block(0, 'text'), { type: 'content_block_stop' })],
    ['an end', messagesFormat, named(start, ping, { type: 'message_delta' })],
    ['thinking', responsesFormat, named(created, added('reasoning'))],
    ['a tool call', responsesFormat, named(created, added('function_call'))],
    ['a second item', responsesFormat, named(created, added('message'), part, outputText('a'), added('message', 1))],
    ['log probabilities', responsesFormat, named(created, outputText('a', { logprobs: [{ token: 'a' }] }))],
    ['an annotation', responsesFormat, named(created, { type: 'response.output_text.annotation.added' })],
    ['nothing that is known', embeddingsFormat, data({})],
  ])('with %s is not continued (%#)', (_, format, text) => {
    expect(() => read(format, text)).toThrow(expect.objectContaining({ failure: 'refused' }));
  });

  it('is not continued with an id other than the one from its ingress', () => {
    const events = named(created, added('message'), part, outputText('a'));
    expect(() => read(responsesFormat, events, 'resp_2')).toThrow('another id');
  });
});
