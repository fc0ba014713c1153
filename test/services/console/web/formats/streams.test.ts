import { describe, expect, it } from 'vitest';
import { createAnswer, addPiece, type Piece } from '#services/console/web/formats/conversation.ts';
import { chat } from '#services/console/web/formats/chat.ts';
import { responses } from '#services/console/web/formats/responses.ts';
import { messages } from '#services/console/web/formats/messages.ts';

function answerOf(events: unknown[], read: (data: string) => Piece[]) {
  return events.flatMap((event) => read(JSON.stringify(event))).reduce(addPiece, createAnswer('any'));
}

const toolCall = (id: string, name: string, input: string) => ({ id, name, input });
const toolCalls = [toolCall('c0', 'add', '{"a":1}'), toolCall('c1', 'sub', '{}')];
const served = { model: 'demo', promptTokens: 5, completionTokens: 7 };
const expected = { text: 'Hello!', thinking: 'Hm.', toolCalls, served };

describe("the answer of a stream's events", () => {
  it('is read from the chat format', () => {
    const delta = (fields: object) => ({ model: 'demo', choices: [{ index: 0, delta: fields, finish_reason: null }] });
    const call = (index: number, fields: object) => delta({ tool_calls: [{ index, ...fields }] });
    const answer = answerOf(
      [
        delta({ role: 'assistant', reasoning_content: 'H' }),
        delta({ reasoning: 'm.' }),
        delta({ content: 'Hel' }),
        delta({ content: 'lo!' }),
        call(0, { id: 'c0', function: { name: 'add', arguments: '{"a"' } }),
        call(1, { id: 'c1', function: { name: 'sub', arguments: '{}' } }),
        call(0, { function: { arguments: ':1}' } }),
        { choices: [{ delta: {}, finish_reason: 'tool_calls' }], usage: { prompt_tokens: 5, completion_tokens: 7 } },
      ],
      chat.openReader(),
    );
    expect(answer).toMatchObject({ ...expected, isCut: false, state: 'streaming' });
    expect(chat.openReader()('[DONE]')).toEqual([]);
  });

  it('is read from the messages format, which numbers all blocks together', () => {
    const answer = answerOf(
      [
        { type: 'message_start', message: { model: 'demo', usage: { input_tokens: 3, cache_read_input_tokens: 2 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'thinking' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello!' } },
        { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'c0', name: 'add' } },
        { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
        { type: 'content_block_start', index: 3, content_block: { type: 'tool_use', id: 'c1', name: 'sub' } },
        { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{}' } },
        { type: 'ping' },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
        { type: 'message_stop' },
      ],
      messages.openReader(),
    );
    expect(answer).toMatchObject({ ...expected, signature: 'sig', isCut: false });
  });

  it.each(['max_tokens', 'model_context_window_exceeded'])('is cut if it ends by %s', (reason) => {
    const end = { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 7 } };
    expect(answerOf([end], messages.openReader())).toMatchObject({ isCut: true });
  });

  it('is read from the Responses format, which numbers all items together', () => {
    const event = (name: string, place: number, more = {}) => {
      return { type: `response.${name}`, output_index: place, ...more };
    };
    const item = (kind: string, place: number, fields: object) => event(`output_item.${kind}`, place, { item: fields });
    const call = (place: number, delta: string) => event('function_call_arguments.delta', place, { delta });
    const usage = { input_tokens: 5, output_tokens: 7 };
    const answer = answerOf(
      [
        { type: 'response.created', response: { model: 'auto', usage: null } },
        { type: 'response.in_progress', response: { model: 'auto' } },
        item('added', 0, { type: 'reasoning' }),
        event('reasoning_summary_part.added', 0),
        event('reasoning_summary_text.delta', 0, { delta: 'Hm.' }),
        item('done', 0, { type: 'reasoning', encrypted_content: 'one' }),
        item('done', 1, { type: 'reasoning', encrypted_content: 'two' }),
        item('added', 2, { type: 'message' }),
        event('output_text.delta', 2, { delta: 'Hello!' }),
        event('output_text.done', 2, { text: 'Hello!' }),
        item('added', 3, { type: 'function_call', call_id: 'c0', name: 'add', arguments: '' }),
        item('added', 4, { type: 'function_call', call_id: 'c1', name: 'sub', arguments: '' }),
        call(3, '{"a"'),
        call(4, '{}'),
        call(3, ':1}'),
        { type: 'keepalive' },
        { type: 'response.completed', response: { model: 'demo', usage, incomplete_details: null } },
      ],
      responses.openReader(),
    );
    expect(answer).toMatchObject({ ...expected, signature: 'one\ntwo', isCut: false });
  });

  it('reports whether it was cut off at its maximum length', () => {
    const short = answerOf([{ choices: [{ delta: {}, finish_reason: 'length' }] }], chat.openReader());
    const end = { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 7 } };
    const incomplete = { incomplete_details: { reason: 'max_output_tokens' } };
    const inResponses = answerOf([{ type: 'response.incomplete', response: incomplete }], responses.openReader());
    for (const answer of [short, answerOf([end], messages.openReader()), inResponses]) expect(answer.isCut).toBe(true);
  });

  it("ends as failed with the error's message", () => {
    const inChat = answerOf([{ error: { message: 'Gone.' } }], chat.openReader());
    const error = { type: 'error', error: { type: 'api_error', message: 'Gone.' } };
    const inMessages = answerOf([error], messages.openReader());
    const failed = { type: 'response.failed', response: { error: { message: 'Gone.' } } };
    const inResponses = answerOf([failed], responses.openReader());
    for (const answer of [inChat, inMessages, inResponses])
      expect(answer).toMatchObject({ state: 'failed', error: 'Gone.' });
  });
});
