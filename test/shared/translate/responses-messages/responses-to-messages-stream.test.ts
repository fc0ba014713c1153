import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { createSealer } from '#shared/core/seal.ts';
import {
  responsesToMessagesRequest,
  responsesToMessages,
} from '#shared/translate/responses-messages/responses-to-messages.ts';
import { toRecalledRequest } from '#shared/translate/responses/recalled-request.ts';
import { assembleResponse } from '../responses/assemble-response.ts';
import { runStream } from '../run-stream.ts';
import { inputDeltas, messageBlock, messageEnd, messageStart } from '../upstream-streams.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

const { seal, unseal } = createSealer(randomBytes(32));
const sealing: JsonObject = { store: false, include: ['reasoning.encrypted_content'] };

/** Returns the items that a client reads from a stream of these events. */
function read(events: readonly object[], request: JsonObject = {}): JsonObject[] {
  const recalled = toRecalledRequest({ model: 'up', input: 'hi', ...request });
  const answerContext = { id: 'resp_1', model: 'up', created: 7, promptTokens: () => 11, recalled, seal };
  const { text } = runStream(responsesToMessages.createStream(answerContext), events);
  return assembleResponse(text).response['output'] as JsonObject[];
}

const tools = [
  { type: 'custom', name: 'patch' },
  { type: 'namespace', name: 'mcp__x', tools: [{ type: 'function', name: 'g' }] },
];

const unsaid = { type: 'thinking', thinking: '', signature: '' };
const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
const patch = { type: 'tool_use', id: 'a', name: 'patch', input: {} };

const everything = [
  messageStart,
  { type: 'ping' },
  ...messageBlock(
    0,
    unsaid,
    ...['h', 'm'].map((thinking) => ({ type: 'thinking_delta', thinking })),
    ...['c2', 'ln'].map((signature) => ({ type: 'signature_delta', signature })),
  ),
  ...messageBlock(1, { type: 'redacted_thinking', data: 'opaque' }),
  ...messageBlock(2, unsaid, { type: 'signature_delta', signature: 'hidden' }),
  ...messageBlock(3, textBlock('He'), { type: 'text_delta', text: 'llo' }, { type: 'citations_delta', citation: {} }),
  ...messageBlock(4, search, ...inputDeltas('{"query":', '"q"}')),
  ...messageBlock(5, patch, ...inputDeltas('', '{"input": "*** \\u00', 'e9\\n"}')),
  ...messageBlock(6, { type: 'tool_use', id: 'b', name: 'mcp__x__g', input: {} }),
  ...messageBlock(7, { type: 'tool_use', id: 'c', name: 'h', input: { y: 2 } }),
  { type: 'something_new' },
  ...messageEnd('tool_use'),
];

describe('a Responses stream from a messages upstream', () => {
  it('has an item for each block, in their order', () => {
    expect(read(everything, { ...sealing, tools })).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }], summary: [] },
      { type: 'reasoning', content: [], summary: [] },
      { type: 'reasoning', content: [], summary: [] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'web_search_call', id: 'ws_0_1', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: '*** é\n' },
      { type: 'function_call', call_id: 'b', name: 'g', namespace: 'mcp__x', arguments: '{}' },
      { type: 'function_call', call_id: 'c', name: 'h', arguments: '{"y":2}' },
    ]);
  });

  it.each<[string, JsonObject, boolean]>([
    ['asked for', sealing, true],
    ['to be stored', {}, true],
    ['neither', { store: false }, false],
    ['neither, with other includes', { store: false, include: ['web_search_call.results'] }, false],
  ])('seals thinking that is %s: %j', (_, request, sealed) => {
    const output = read(everything, { ...request, tools });
    const contents = output.flatMap(({ type, encrypted_content: text }) => (type === 'reasoning' ? [text] : []));
    expect(contents.map((text) => typeof text === 'string')).toEqual([sealed, sealed, sealed]);
    expect(JSON.stringify(contents)).not.toContain('opaque');
  });

  it('has the thinking as summary if the client requests one', () => {
    const output = read(everything, { reasoning: { summary: 'auto' }, tools });
    expect(output[0]).toMatchObject({ summary: [{ type: 'summary_text', text: 'hm' }] });
  });

  it('has thinking without a signature, for which nothing is sealed', () => {
    const block = messageBlock(0, { type: 'thinking', thinking: 'hm' });
    const output = read([messageStart, ...block, ...messageEnd('end_turn')], sealing);
    const input = [...output, said('user', 'hi')];
    expect(output).toMatchObject([{ type: 'reasoning', content: [{ text: 'hm' }] }]);
    const { messages } = responsesToMessagesRequest({ model: 'up', input }, { model: 'up', unseal });
    expect(messages).toEqual([said('user', 'hi')]);
  });

  it('has the explanation of a refusal as refusal', () => {
    const end = messageEnd('refusal', { stop_details: { type: 'refusal', explanation: 'no' } });
    const content = [{ type: 'refusal', refusal: 'no' }];
    expect(read([messageStart, ...end])).toMatchObject([{ type: 'message', content }]);
  });
});
