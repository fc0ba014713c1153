import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import type { MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';
import { editContext, computeAppliedEdits } from '#shared/translate/context/edit-context.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';

const thought = (thinking: string) => ({ type: 'thinking' as const, thinking, signature: 's' });
const call = (id: string, name: string) => ({ type: 'tool_use' as const, id, name, input: { path: id } });
const answer = (id: string, content: string) => ({ type: 'tool_result' as const, tool_use_id: id, content });
const long = 'word '.repeat(4_000);

/** Three turns; the second has two rounds of tool calls. */
const history: MessagesMessage[] = [
  { role: 'user', content: 'one' },
  { role: 'assistant', content: [thought('a'), { type: 'text', text: 'first' }] },
  { role: 'user', content: 'two' },
  { role: 'assistant', content: [thought('b'), call('t1', 'read')] },
  { role: 'user', content: [answer('t1', long)] },
  { role: 'assistant', content: [thought('c'), call('t2', 'write')] },
  { role: 'user', content: [answer('t2', long)] },
  { role: 'assistant', content: [{ type: 'text', text: 'second' }] },
  { role: 'user', content: 'three' },
];

function edit(edits: JsonObject[], messages = history): ReturnType<typeof editContext> {
  const request: MessagesRequest = { model: 'm', max_tokens: 1, messages, context_management: { edits } };
  return editContext(request);
}

const blocksIn = (messages: MessagesMessage[]) =>
  messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));

describe('the edit clear_thinking_20251015', () => {
  it('keeps the thinking of the last turn with thinking, through all its tool calls', () => {
    const { messages, applied } = edit([{ type: 'clear_thinking_20251015' }]);
    const kept = blocksIn(messages).flatMap((block) => (block.type === 'thinking' ? [block.thinking] : []));
    expect(kept).toEqual(['b', 'c']);
    expect(applied).toEqual([
      { type: 'clear_thinking_20251015', cleared_thinking_turns: 1, cleared_input_tokens: expect.any(Number) },
    ]);
  });

  it.each([['all'], [{ type: 'all' }], [{ type: 'thinking_turns', value: 2 }]])(
    'keeps the number of turns in %j',
    (keep) => {
      const { messages, applied } = edit([{ type: 'clear_thinking_20251015', keep }]);
      expect(messages).toBe(history);
      expect(applied).toEqual([]);
    },
  );
});

describe('the edit clear_tool_uses_20250919', () => {
  const now = { type: 'clear_tool_uses_20250919', trigger: { type: 'tool_uses', value: 1 }, keep: { value: 1 } };

  it('replaces all results except the last ones, and counts the saved tokens', () => {
    const { messages, applied } = edit([now]);
    const results = blocksIn(messages).flatMap((block) => (block.type === 'tool_result' ? [block.content] : []));
    expect(results).toEqual(['The result of this call was removed to save context.', long]);
    expect(applied).toEqual([
      { type: 'clear_tool_uses_20250919', cleared_tool_uses: 1, cleared_input_tokens: 5_000 - 13 },
    ]);
    expect(messages[3]).toEqual(history[3]);
  });

  it('waits for its trigger: 100,000 tokens unless the request names another', () => {
    expect(edit([{ type: now.type, keep: { value: 0 } }]).applied).toEqual([]);
    const trigger = { type: 'input_tokens', value: 9_000 };
    expect(edit([{ type: now.type, trigger, keep: { value: 0 } }]).applied).toMatchObject([{ cleared_tool_uses: 2 }]);
  });

  it('keeps results of excluded tools, and clears nothing unless that saves enough', () => {
    const { applied } = edit([{ ...now, keep: { value: 0 }, exclude_tools: ['write'] }]);
    expect(applied).toMatchObject([{ cleared_tool_uses: 1 }]);
    expect(edit([{ ...now, clear_at_least: { type: 'input_tokens', value: 6_000 } }]).applied).toEqual([]);
  });

  it('empties the inputs of the named tools', () => {
    const inputs = (clear: JsonObject[string]) => {
      const { messages } = edit([{ ...now, keep: { value: 0 }, clear_tool_inputs: clear }]);
      return blocksIn(messages).flatMap((block) => (block.type === 'tool_use' ? [block.input] : []));
    };
    expect(inputs(true)).toEqual([{}, {}]);
    expect(inputs(['read'])).toEqual([{}, { path: 't2' }]);
  });
});

it('the edits of a request are reported in the answer, whole and streamed, if the request has any', () => {
  const context_management = { edits: [{ type: 'compact_20260112' }] };
  const recalled = computeAppliedEdits({ model: 'm', messages: history, context_management });
  const answerContext = { id: 'msg_1', model: 'm', created: 1, recalled };
  const chat = { choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] };
  expect(messagesToChat.translateReply(chat, answerContext).body['context_management']).toEqual({ applied_edits: [] });
  const stream = messagesToChat.createStream(answerContext);
  stream.translateEvent(JSON.stringify({ choices: [{ delta: { content: 'hi' }, finish_reason: 'stop' }] }));
  expect(stream.translateEnd().text).toContain('"context_management":{"applied_edits":[]}');
  const without = { ...answerContext, recalled: computeAppliedEdits({ model: 'm', messages: history }) };
  expect(messagesToChat.translateReply(chat, without).body).not.toHaveProperty('context_management');
});
