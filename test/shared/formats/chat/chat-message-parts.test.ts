import { describe, expect, it } from 'vitest';
import { chatMessageParts } from '#shared/formats/chat/message-parts.ts';

const png = `data:image/png;base64,${'iVBORw0K'.repeat(100)}`;

describe('the messages of a chat request', () => {
  it('are parts: texts, thinking, calls of tools and their results', () => {
    const { instructions, messages } = chatMessageParts.request({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'How warm is it?' }] },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'A tool knows.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
            { id: 'c2', type: 'custom', custom: { name: 'note', input: 'free text' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '21 degrees' },
      ],
    });
    expect(instructions).toEqual([]);
    expect(messages).toEqual([
      { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
      { role: 'user', parts: [{ type: 'text', content: 'How warm is it?' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'A tool knows.' },
          { type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Rome' } },
          { type: 'tool_call', id: 'c2', name: 'note', arguments: 'free text' },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: '21 degrees' }] },
    ]);
  });

  it('have references in place of images, sounds and files', () => {
    const content = [
      { type: 'image_url', image_url: { url: png } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'input_audio', input_audio: { format: 'wav', data: 'UklGRg==' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
    ];
    expect(chatMessageParts.request({ messages: [{ role: 'user', content }] }).messages[0]?.parts).toEqual([
      { type: 'blob', modality: 'image', mime_type: 'image/png', content: '', 'rtr.length': 800 },
      { type: 'uri', modality: 'image', uri: 'https://example.com/a.png' },
      { type: 'blob', modality: 'audio', mime_type: 'audio/wav', content: '', 'rtr.length': 8 },
      { type: 'file', modality: 'document', file_id: 'file-1' },
      { type: 'blob', modality: 'document', mime_type: 'application/pdf', content: '', 'rtr.length': 8 },
    ]);
  });

  it.each([
    [{}],
    [{ messages: 'none' }],
    [{ messages: [1, null, [], {}, { role: 'user' }, { role: 'user', content: [{ type: 'unknown', data: 'x' }] }] }],
    [{ messages: [{ role: 'assistant', tool_calls: [null, {}, { function: 1 }] }] }],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }, { type: 'file' }, { type: 'input_audio' }] }] }],
  ])('are none of what is unknown: %j', (body) => {
    expect(chatMessageParts.request(body).messages).toEqual([]);
  });
});

describe('arguments that nest too deeply to be written', () => {
  it('stay a text', () => {
    const text = `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`;
    const calls = [{ id: 'c1', function: { name: 'deep', arguments: text } }];
    const { messages } = chatMessageParts.request({ messages: [{ role: 'assistant', tool_calls: calls }] });
    expect(messages[0]?.parts[0]?.['arguments'] === text).toBe(true);
  });
});

describe('the messages of a chat answer', () => {
  it('are its choices', () => {
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'Warm.' }, finish_reason: 'stop' },
      {
        index: 1,
        message: { content: null, tool_calls: [{ id: 'c1', function: { name: 'weather', arguments: '{"city":' } }] },
        finish_reason: 'tool_calls',
      },
    ];
    expect(chatMessageParts.answer({ choices })).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Warm.' }], finish_reason: 'stop' },
      {
        role: 'assistant',
        // What is no JSON stays as the model wrote it.
        parts: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: '{"city":' }],
        finish_reason: 'tool_call',
      },
    ]);
    expect(chatMessageParts.answer({ error: { message: 'No.' } })).toEqual([]);
  });
});
