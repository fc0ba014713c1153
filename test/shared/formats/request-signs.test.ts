import { expect, it } from 'vitest';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';

const messages = [{ role: 'user', content: 'hi' }];
const read = {
  chat: (tools: object[]) => chatFormat.read(Buffer.from(JSON.stringify({ model: 'm', messages, tools })), 'generate'),
  messages: (tools: object[]) =>
    messagesFormat.read(Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages, tools })), 'generate'),
  responses: (tools: object[]) =>
    responsesFormat.read(Buffer.from(JSON.stringify({ model: 'm', input: 'hi', tools })), 'generate'),
  'items of responses': (tools: object[]) => {
    const input = [...messages, { type: 'additional_tools', tools }];
    return responsesFormat.read(Buffer.from(JSON.stringify({ model: 'm', input })), 'generate');
  },
};

it.each<[keyof typeof read, object, boolean]>([
  ['chat', { type: 'function', function: { name: 'f' } }, true],
  ['chat', { type: 'custom', custom: { name: 'f' } }, true],
  ['chat', { type: 'web_search' }, false],
  ['messages', { name: 'f', input_schema: {} }, true],
  ['messages', { type: 'custom', name: 'f', input_schema: {} }, true],
  ['messages', { type: 'web_search_20250305', name: 'web_search' }, false],
  ['responses', { type: 'function', name: 'f', parameters: {}, strict: false }, true],
  ['responses', { type: 'custom', name: 'f' }, true],
  ['responses', { type: 'web_search' }, false],
  ['items of responses', { type: 'custom', name: 'f' }, true],
  ['items of responses', { type: 'web_search' }, false],
])('the signs of a request show whether the client defines the tool: %s, %j', (format, tool, isOwn) => {
  expect(read[format]([tool]).parameters.signs?.hasOwnTools).toBe(isOwn);
});
