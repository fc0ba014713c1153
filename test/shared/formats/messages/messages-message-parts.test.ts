import { describe, expect, it } from 'vitest';
import { messagesMessageParts } from '#shared/formats/messages/message-parts.ts';

describe('the messages of a messages request', () => {
  it('are parts, with the instructions beside them', () => {
    const { instructions, messages } = messagesMessageParts.request({
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'How warm is it?' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'A tool knows.', signature: 'sealed' },
            { type: 'redacted_thinking', data: 'sealed' },
            { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Rome' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: '21 degrees' },
            {
              type: 'tool_result',
              tool_use_id: 't2',
              content: [
                { type: 'text', text: 'A map:' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0K' } },
              ],
            },
          ],
        },
      ],
    });
    expect(instructions).toEqual([{ type: 'text', content: 'Be brief.' }]);
    expect(messages).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'How warm is it?' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'A tool knows.' },
          { type: 'tool_call', id: 't1', name: 'weather', arguments: { city: 'Rome' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'tool_call_response', id: 't1', response: '21 degrees' },
          {
            type: 'tool_call_response',
            id: 't2',
            response: [
              { type: 'text', content: 'A map:' },
              { type: 'blob', modality: 'image', mime_type: 'image/png', content: '', 'rtr.length': 8 },
            ],
          },
        ],
      },
    ]);
    expect(messagesMessageParts.request({ system: 'Be kind.' }).instructions).toEqual([
      { type: 'text', content: 'Be kind.' },
    ]);
  });

  it('have references in place of images and documents', () => {
    const content = [
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'A long text' } },
      { type: 'document', source: { type: 'unknown', data: 'x' } },
    ];
    expect(messagesMessageParts.request({ messages: [{ role: 'user', content }] }).messages[0]?.parts).toEqual([
      { type: 'uri', modality: 'image', uri: 'https://example.com/a.png' },
      { type: 'file', modality: 'document', file_id: 'file_1' },
      { type: 'blob', modality: 'document', mime_type: 'text/plain', content: '', 'rtr.length': 11 },
    ]);
  });

  it.each([
    [{}],
    [{ system: 1, messages: {} }],
    [{ messages: [null, 'text', { role: 'user', content: [{ type: 'image' }, { type: 'unknown' }, 1] }] }],
  ])('are none of what is unknown: %j', (body) => {
    expect(messagesMessageParts.request(body)).toEqual({ instructions: [], messages: [] });
  });
});

describe('the message of an answer', () => {
  it.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['tool_use', 'tool_call'],
    ['refusal', 'content_filter'],
    ['pause_turn', 'pause_turn'],
    [null, 'error'],
  ])('that ended with %s has the finish reason %s', (reason, expected) => {
    const body = { type: 'message', content: [{ type: 'text', text: 'Warm.' }], stop_reason: reason };
    expect(messagesMessageParts.answer(body)).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Warm.' }], finish_reason: expected },
    ]);
  });

  it('is none of an error or a count', () => {
    expect(messagesMessageParts.answer({ type: 'error', error: { message: 'No.' } })).toEqual([]);
    expect(messagesMessageParts.answer({ input_tokens: 3 })).toEqual([]);
  });
});
