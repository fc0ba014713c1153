import { describe, expect, it } from 'vitest';
import { responsesMessageParts } from '#shared/formats/responses/message-parts.ts';

describe('the messages of a responses request', () => {
  it('are its items, with the instructions beside them', () => {
    const { instructions, messages } = responsesMessageParts.request({
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'How warm is it?' },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'A tool knows.' }], encrypted_content: 'sealed' },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Rome"}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '42' },
        { type: 'function_call_output', call_id: 'c1', output: '21 degrees' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'done' }] },
        { type: 'item_reference', id: 'msg_1' },
      ],
    });
    expect(instructions).toEqual([{ type: 'text', content: 'Be brief.' }]);
    expect(messages).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'How warm is it?' }] },
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'A tool knows.' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Rome' } }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c2', name: 'patch', arguments: '42' }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: '21 degrees' }] },
      {
        role: 'tool',
        parts: [{ type: 'tool_call_response', id: 'c2', response: [{ type: 'text', content: 'done' }] }],
      },
    ]);
    expect(responsesMessageParts.request({ input: 'Hello.' }).messages).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Hello.' }] },
    ]);
  });

  it('have references in place of images and files', () => {
    const content = [
      { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0K' },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
      { type: 'input_image', file_id: 'file-1' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    ];
    expect(responsesMessageParts.request({ input: [{ role: 'user', content }] }).messages[0]?.parts).toEqual([
      { type: 'blob', modality: 'image', mime_type: 'image/png', content: '', 'rtr.length': 8 },
      { type: 'uri', modality: 'image', uri: 'https://example.com/a.png' },
      { type: 'file', modality: 'image', file_id: 'file-1' },
      { type: 'blob', modality: 'document', mime_type: 'application/pdf', content: '', 'rtr.length': 8 },
      { type: 'uri', modality: 'document', uri: 'https://example.com/a.pdf' },
    ]);
  });

  it.each([
    [{}],
    [{ input: 1 }],
    [{ input: [null, 'text', { type: 'unknown', text: 'x' }, { role: 'user', content: [{ type: 'input_image' }] }] }],
  ])('are none of what is unknown: %j', (body) => {
    expect(responsesMessageParts.request(body)).toEqual({ instructions: [], messages: [] });
  });
});

describe('the message of a response', () => {
  const output = [
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Let me see.' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Warm.' }] },
  ];
  const parts = [
    { type: 'reasoning', content: 'Let me see.' },
    { type: 'text', content: 'Warm.' },
  ];
  const call = { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' };

  it('is one of all its items', () => {
    expect(responsesMessageParts.answer({ status: 'completed', output })).toEqual([
      { role: 'assistant', parts, finish_reason: 'stop' },
    ]);
    expect(responsesMessageParts.answer({ status: 'completed', output: [call] })).toMatchObject([
      { parts: [{ type: 'tool_call', name: 'add', arguments: { a: 1 } }], finish_reason: 'tool_call' },
    ]);
    const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output };
    expect(responsesMessageParts.answer(incomplete)).toMatchObject([{ finish_reason: 'length' }]);
    expect(responsesMessageParts.answer({ status: 'queued', output: [] })).toEqual([]);
    expect(responsesMessageParts.answer({ error: { message: 'No.' } })).toEqual([]);
  });
});
