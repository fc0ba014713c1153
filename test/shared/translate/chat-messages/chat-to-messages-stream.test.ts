import { describe, expect, it } from 'vitest';
import { chatToMessages } from '#shared/translate/chat-messages/chat-to-messages.ts';
import { assembleCompletion } from '../assemble-completion.ts';
import { runStream } from '../run-stream.ts';
import { inputDeltas, messageBlock, messageEnd, messageStart } from '../upstream-streams.ts';

const answerContext = { id: 'chatcmpl-1', model: 'served', created: 7 };
const read = (events: readonly object[]) =>
  assembleCompletion(runStream(chatToMessages.createStream(answerContext), [messageStart, ...events]).text);

describe('a chat stream from a messages upstream', () => {
  it('omits searches, citations and unknown events, and has an input that comes whole', () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const completion = read([
      ...messageBlock(0, { type: 'text', text: 'Hi' }, { type: 'citations_delta', citation: {} }),
      ...messageBlock(1, search, ...inputDeltas('{"q":1}')),
      ...messageBlock(2, { type: 'tool_use', id: 'c', name: 'h', input: { y: 2 } }),
      { type: 'something_new' },
      ...messageEnd('tool_use'),
    ]);
    expect(completion).toMatchObject({ content: 'Hi', calls: [{ id: 'c', name: 'h', arguments: '{"y":2}' }] });
  });

  it('has the explanation of a refusal', () => {
    const end = messageEnd('refusal', { stop_details: { type: 'refusal', explanation: 'no' } });
    expect(read(end).refusal).toBe('no');
  });
});
