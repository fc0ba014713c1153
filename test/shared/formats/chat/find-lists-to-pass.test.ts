import { describe, expect, it } from 'vitest';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

const filler = said('user', 'x'.repeat(70_000));
const question = said('user', 'Well?');
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const text = textBlock('see');
const tools = [{ type: 'function', function: { name: 'f' } }];

function unreadOf(body: object): unknown {
  const text = Buffer.from(JSON.stringify({ model: 'm', messages: [filler, question], ...body }));
  return chatFormat.read(text, 'generate').parameters.unread;
}

describe('the lists of a long chat request', () => {
  it('are passed unread if no worker has to read them, each with its number of fields', () => {
    expect(unreadOf({})).toEqual({ messages: 4 });
    expect(unreadOf({ tools, tool_choice: 'required' })).toEqual({ messages: 4, tools: 3 });
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messages = [
      said('system', 'x'),
      filler,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '{}' },
      { role: 'user', content: [text, image], name: 'n' },
    ];
    expect(unreadOf({ messages })).toEqual({ messages: 2 + 2 + 3 + 5 + 3 + 3 + 5 });
  });

  it.each([
    ['a request that is short', { messages: [question] }],
    ['the beginning of an answer at the end', { messages: [filler, said('assistant', 'I')] }],
    ['instructions of a developer', { messages: [said('developer', 'x'), filler] }],
    ['thinking', { messages: [filler, { ...said('assistant', 'x'), reasoning_content: 'y' }, question] }],
    ['thinking by its other name', { messages: [filler, { ...said('assistant', 'x'), reasoning: 'y' }, question] }],
    ['texts only in one message', { messages: [filler, said('user', [text, text])] }],
    ['an image elsewhere', { messages: [filler, said('user', [{ ...image, image_url: { url: 'http://x' } }])] }],
    ['an address beside an image', { messages: [filler, said('user', [{ ...image, video_url: 'x' }])] }],
    ['an address in a text', { messages: [filler, said('user', [{ ...text, image_url: 'x' }, image])] }],
    ['a file', { messages: [filler, said('user', [{ type: 'file', file: {} }, image])] }],
  ])('are not passed unread with %s', (_, body) => {
    expect(unreadOf(body)).toBeUndefined();
  });

  it('are passed unread without the tools if the choice names one, which may have to be the only one', () => {
    const choice = { type: 'function', function: { name: 'f' } };
    expect(unreadOf({ tools, tool_choice: choice })).toEqual({ messages: 4 });
  });
});
