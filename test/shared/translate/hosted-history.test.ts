import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { toHostedCallId, encodeResultText } from '#shared/formats/messages/hosted/result-citations.ts';
import { messagesToConversation } from '#shared/translate/conversation/messages-to-conversation.ts';
import { translationBetween } from './translation-between.ts';
import { said, textBlock } from '../../helpers/formats/said.ts';

const [first, second] = [toHostedCallId('c1'), toHostedCallId('c2')];
const found = {
  type: 'web_search_result',
  title: 'T',
  url: 'https://x.example/',
  page_age: '1 day',
  encrypted_content: encodeResultText('Täxt'),
};
const page = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'The page.' }, title: null };
const fetched = { type: 'web_fetch_result', url: 'https://x.example/', content: page };

/** An answer with two parallel calls, a call that was cut off, and text around them. */
const content: JsonObject[] = [
  textBlock('Let me see.'),
  { type: 'server_tool_use', id: first, name: 'web_search', input: { query: 'q' } },
  { type: 'server_tool_use', id: second, name: 'web_fetch', input: { url: 'https://x.example/' } },
  { type: 'web_search_tool_result', tool_use_id: first, content: [found] },
  { type: 'web_fetch_tool_result', tool_use_id: second, content: fetched },
  textBlock('That is it.'),
  { type: 'server_tool_use', id: toHostedCallId('c3'), name: 'web_search', input: {} },
];
const messages = [said('user', 'Look.'), said('assistant', content), said('user', 'And?')];
const request = { model: 'm', max_tokens: 9, messages };
const results = ['1. T\nhttps://x.example/\n1 day\nTäxt', 'The page.'];

function translated(upstream: string, body: JsonObject = request): JsonObject {
  return translationBetween('messages', upstream).translateRequest(body, { model: 'm' });
}

describe('searches and fetches that the router has run, in a later request', () => {
  it('become tool calls with their results on chat upstreams', () => {
    const search = { name: 'web_search', arguments: '{"query":"q"}' };
    const fetch = { name: 'web_fetch', arguments: '{"url":"https://x.example/"}' };
    const calls = [
      { id: first, type: 'function', function: search },
      { id: second, type: 'function', function: fetch },
    ];
    expect(translated('chat')['messages']).toEqual([
      said('user', 'Look.'),
      { ...said('assistant', 'Let me see.'), tool_calls: calls },
      { role: 'tool', tool_call_id: first, content: results[0] },
      { role: 'tool', tool_call_id: second, content: results[1] },
      said('assistant', 'That is it.'),
      said('user', 'And?'),
    ]);
  });

  it('become text on messages upstreams', () => {
    const [, answer] = translated('messages')['messages'] as { content: { type: string; text: string }[] }[];
    expect(answer?.content.map(({ type }) => type)).toEqual(content.map(() => 'text'));
    expect(answer?.content[1]?.text).toContain('web_search: {"query":"q"}');
    expect(answer?.content.slice(3, 5).map(({ text }) => text.split('\n').slice(1).join('\n'))).toEqual(results);
  });

  it('become text for command-line agents', () => {
    const all = JSON.stringify(messagesToConversation.translateRequest(request, { model: 'm' }));
    for (const result of ['Let me see.', ...results]) expect(all).toContain(JSON.stringify(result).slice(1, -1));
  });
});

it('a failed search in a later request has its error code as result', () => {
  const error = { type: 'web_search_tool_result_error', error_code: 'unavailable' };
  const failed = { type: 'web_search_tool_result', tool_use_id: first, content: error };
  const history = [messages[0], said('assistant', [content[1], failed]), messages[2]];
  const body = translated('chat', { ...request, messages: history } as JsonObject);
  expect(body['messages']).toContainEqual({ role: 'tool', tool_call_id: first, content: 'Error: unavailable' });
});
