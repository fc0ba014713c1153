import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import { syntheticSignature } from '#shared/translate/vocabulary/thinking.ts';
import { assembleMessage, namedEvents } from '../assemble-message.ts';
import { runStream } from '../run-stream.ts';
import { callPiece, chatChunk } from '../upstream-streams.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { said } from '../../../helpers/formats/said.ts';

const answerContext = { id: 'msg_1', model: 'served', created: 7, promptTokens: () => 11 };

const run = (events: readonly (object | string)[]) => runStream(messagesToChat.createStream(answerContext), events);
const tool = (index: number, input: Json) => {
  return { type: 'tool_use', id: `c${index}`, name: `tool_${index}`, input, caller: { type: 'direct' } };
};
const thinking = (text: string) => ({ type: 'thinking', thinking: text, signature: syntheticSignature });
const text = (text: string) => ({ type: 'text', text, citations: null });

describe('a messages stream from a chat upstream', () => {
  it('begins with an estimate of its usage, and a ping', () => {
    const { text: stream } = run([chatChunk({ content: 'Hello' }), chatChunk({}, 'stop')]);
    expect(assembleMessage(stream).start).toMatchObject({
      stop_reason: null,
      usage: { input_tokens: 11, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
    });
    expect(namedEvents(stream)[1]).toEqual({ type: 'ping' });
  });

  it('has the text of chunks whose delta is called message', () => {
    const chunk = { choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: null }] };
    expect(assembleMessage(run([chunk, chatChunk({}, 'stop')]).text).content).toEqual([text('Hi')]);
  });

  describe('with thinking', () => {
    const deltas = [{ reasoning: 'h' }, { reasoning: 'm' }, { content: 'Hi' }];
    const events = [...deltas.map((delta) => chatChunk(delta)), chatChunk({}, 'stop')];
    const message = { role: 'assistant', reasoning: 'hm', content: 'Hi' };
    const body = { choices: [{ message, finish_reason: 'stop' }] };
    const contents = (request: JsonObject) => {
      const asked = { model: 'm', max_tokens: 100, messages: [said('user', 'Hi')], ...request };
      const known = { ...answerContext, recalled: messagesToChat.recallFields?.(asked) };
      const { text: stream } = runStream(messagesToChat.createStream(known), events);
      return [
        assembleMessage(stream).content,
        messagesToChat.translateReply(structuredClone(body), known).body['content'],
      ];
    };

    it.each([[{}], [{ thinking: null }], [{ thinking: { type: 'disabled' } }]])(
      'shows no thinking to %j',
      (request) => {
        for (const content of contents(request)) expect(content).toEqual([text('Hi')]);
      },
    );

    it('counts as active although it shows no thinking', () => {
      const stream = messagesToChat.createStream({ ...answerContext, recalled: { thinking: 'none' } });
      stream.translateEvent(JSON.stringify(events[0]));
      expect(stream.hasContent).toBe(true);
    });

    it('shows its thinking to a client that asks for it', () => {
      for (const content of contents({ thinking: { type: 'adaptive' } }))
        expect(content).toEqual([thinking('hm'), text('Hi')]);
    });

    it('omits the text of its thinking if the client asks for that, and gets it back in the next request', () => {
      for (const content of contents({ thinking: { type: 'adaptive', display: 'omitted' } })) {
        expect(content).toMatchObject([{ type: 'thinking', thinking: '' }, text('Hi')]);
        const messages = [said('user', 'Hi'), said('assistant', content as Json)];
        const again = messagesToChat.translateRequest({ model: 'm', max_tokens: 100, messages }, { model: 'm' });
        expect(again['messages']).toMatchObject([{}, { role: 'assistant', reasoning_content: 'hm', content: 'Hi' }]);
      }
    });
  });

  it('sends at once every piece that need not wait', () => {
    const stream = messagesToChat.createStream(answerContext);
    const texts = ['a', 'b'].map((content) => chatChunk({ content }));
    const pieces = [...texts, callPiece(0, '{', 'tool_0'), callPiece(0, '}'), callPiece(1, '{', 'tool_1')];
    const sent = pieces.map((event) =>
      namedEvents(stream.translateEvent(JSON.stringify(event))).map(({ type }) => type),
    );
    expect(sent).toEqual([
      ['message_start', 'ping', 'content_block_start', 'content_block_delta'],
      ['content_block_delta'],
      ['content_block_stop', 'content_block_start', 'content_block_delta'],
      ['content_block_delta'],
      ['content_block_stop', 'content_block_start', 'content_block_delta'],
    ]);
  });

  it.each([
    ['come in turn', [callPiece(0, '{"a":1}', 'tool_0'), callPiece(1, '{"b":', 'tool_1'), callPiece(1, '2}')]],
    [
      'have thinking after the first',
      [callPiece(0, '{"a"', 'tool_0'), callPiece(1, '{"b":2}', 'tool_1'), callPiece(0, ':1}'), callPiece(0, ' \n')],
    ],
  ])('has consecutive blocks for parallel calls that %s', (_, pieces) => {
    const { text: stream } = run([...pieces, chatChunk({}, 'tool_calls')]);
    expect(assembleMessage(stream).content).toEqual([tool(0, { a: 1 }), tool(1, { b: 2 })]);
  });

  it('separates 20 interleaved parallel calls with thinking between them', () => {
    const inputs = Array.from({ length: 20 }, (_, at) => {
      return { path: `/tmp/"${at}\\`, lines: [at, { deep: '}]' }], text: 'é👩‍🚀'.repeat(at) };
    });
    const json = inputs.map((input) => JSON.stringify(input));
    const events: object[] = [];
    let thoughts = '';
    for (let at = 0, more = true; more; at += 3) {
      more = false;
      for (const [index, whole] of json.entries()) {
        const fragment = whole.slice(at, at + 3);
        if (at === 0) events.push(callPiece(index, fragment, `tool_${index}`));
        else if (fragment !== '') events.push(callPiece(index, fragment));
        more ||= fragment !== '';
        if (index % 7 !== 3 || at % 9 > 0) continue;
        events.push(chatChunk({ reasoning_content: `<${index}.${at}>` }));
        thoughts += `<${index}.${at}>`;
      }
    }
    const { text: stream, ending } = run([...events, chatChunk({}, 'tool_calls'), '[DONE]']);
    const { content } = assembleMessage(stream);
    expect(content.filter(({ type }) => type === 'tool_use')).toEqual(inputs.map((input, index) => tool(index, input)));
    expect(content.map((block) => (block['thinking'] as string | undefined) ?? '').join('')).toBe(thoughts);
    expect(ending.finishReason).toBe('tool_calls');
  });

  it('has the stop sequence if the engine reports it', () => {
    for (const more of [{ stop_reason: 'END' }, { matched_stop: 'END' }]) {
      const { text: stream } = run([chatChunk({ content: 'a' }), chatChunk({}, 'stop', more)]);
      expect(assembleMessage(stream).delta).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
    }
  });

  const nameless = { index: 0, id: 'a', function: { arguments: '{}' } };
  it.each([
    ['never names a tool', [chatChunk({ tool_calls: [nameless] }), chatChunk({}, 'stop')]],
    ['continues a complete call', [callPiece(0, '{}', 'tool_0'), callPiece(1, '{}', 'tool_1'), callPiece(0, '{}')]],
  ])('fails when the upstream %s', (_, events) => {
    expect(() => run(events)).toThrow(errorWith('upstream_failed'));
  });

  it('limits the size of waiting pieces', () => {
    const flood = Array.from({ length: 5 }, () => chatChunk({ content: 'x'.repeat(1024 * 1024) }));
    expect(() => run([callPiece(0, '{', 'tool_0'), ...flood])).toThrow(errorWith('upstream_failed'));
  });
});
