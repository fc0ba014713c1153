import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import { syntheticSignature } from '#shared/translate/vocabulary/thinking.ts';
import { assembleMessage, namedEvents } from '../assemble-message.ts';
import { runStream } from '../run-stream.ts';

const minted = { id: 'msg_1', model: 'served', created: 7, promptTokens: () => 11 };
const usage = { prompt_tokens: 30, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 10 } };

function delta(delta: object, finish: string | null = null, more: object = {}): object {
  return { id: 'x', model: 'e', choices: [{ index: 0, delta, finish_reason: finish, ...more }] };
}

function piece(index: number, text: string, id?: string): object {
  const fn = id === undefined ? { arguments: text } : { name: `tool_${index}`, arguments: text };
  return delta({ tool_calls: [{ index, ...(id !== undefined && { id, type: 'function' }), function: fn }] });
}

const run = (events: readonly (object | string)[]) => runStream(messagesToChat.stream(minted), events);
const tool = (index: number, input: Json) => ({
  type: 'tool_use',
  id: `c${index}`,
  name: `tool_${index}`,
  input,
  caller: { type: 'direct' },
});
const thinking = (text: string) => ({ type: 'thinking', thinking: text, signature: syntheticSignature });
const text = (text: string) => ({ type: 'text', text, citations: null });

describe('a messages stream from a chat upstream', () => {
  it('has thinking, text and tool calls in blocks, with the usage at the end', () => {
    const { text: stream, ending } = run([
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning: 'h' }),
      delta({ reasoning_content: 'm' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      piece(0, '', 'c0'),
      piece(0, '{"a":'),
      piece(0, '1}'),
      delta({}, 'stop'),
      { choices: [], usage },
      '[DONE]',
    ]);
    expect(assembleMessage(stream)).toMatchObject({
      start: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'served',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 11, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
      },
      content: [thinking('hm'), text('Hello'), tool(0, { a: 1 })],
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 10, output_tokens: 5 },
    });
    expect(ending).toMatchObject({ finishReason: 'tool_calls', usage: { promptTokens: 30, cachedTokens: 10 } });
    expect(namedEvents(stream)[1]).toEqual({ type: 'ping' });
  });

  describe('of a model that thinks', () => {
    const events = [delta({ reasoning: 'h' }), delta({ reasoning: 'm' }), delta({ content: 'Hi' }), delta({}, 'stop')];
    const body = {
      choices: [{ message: { role: 'assistant', reasoning: 'hm', content: 'Hi' }, finish_reason: 'stop' }],
    };
    const contents = (request: JsonObject) => {
      const asked = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...request };
      const known = { ...minted, recalled: messagesToChat.recall?.(asked) };
      const { text: stream } = runStream(messagesToChat.stream(known), events);
      return [assembleMessage(stream).content, messagesToChat.reply(structuredClone(body), known).body['content']];
    };

    it.each([[{}], [{ thinking: null }], [{ thinking: { type: 'disabled' } }]])('shows none of it to %j', (request) => {
      for (const content of contents(request)) expect(content).toEqual([text('Hi')]);
    });

    it('counts as an upstream that answers, although nothing of it is shown', () => {
      const stream = messagesToChat.stream({ ...minted, recalled: { thinking: 'none' } });
      stream.event(JSON.stringify(delta({ reasoning: 'h' })));
      expect(stream.hasContent).toBe(true);
    });

    it('shows it to a client that asks for it', () => {
      for (const content of contents({ thinking: { type: 'adaptive' } }))
        expect(content).toEqual([thinking('hm'), text('Hi')]);
    });

    it('leaves its text out for a client that asks for that, and gets it back in the next request', () => {
      for (const content of contents({ thinking: { type: 'adaptive', display: 'omitted' } })) {
        expect(content).toMatchObject([{ type: 'thinking', thinking: '' }, text('Hi')]);
        const messages = [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: content as Json },
        ];
        const again = messagesToChat.request({ model: 'm', max_tokens: 100, messages }, { model: 'm' });
        expect(again['messages']).toMatchObject([{}, { role: 'assistant', reasoning_content: 'hm', content: 'Hi' }]);
      }
    });
  });

  it('sends every piece at once that need not wait', () => {
    const stream = messagesToChat.stream(minted);
    const pieces = [
      delta({ content: 'a' }),
      delta({ content: 'b' }),
      piece(0, '{', 'c0'),
      piece(0, '}'),
      piece(1, '{', 'c1'),
    ];
    const sent = pieces.map((event) => namedEvents(stream.event(JSON.stringify(event))).map(({ type }) => type));
    expect(sent).toEqual([
      ['message_start', 'ping', 'content_block_start', 'content_block_delta'],
      ['content_block_delta'],
      ['content_block_stop', 'content_block_start', 'content_block_delta'],
      ['content_block_delta'],
      ['content_block_stop', 'content_block_start', 'content_block_delta'],
    ]);
  });

  it.each([
    ['interleave', [piece(0, '{"a"', 'c0'), piece(1, '{"b"', 'c1'), piece(0, ':1}'), piece(1, ':2}')]],
    ['come one after the other', [piece(0, '{"a":1}', 'c0'), piece(1, '{"b":', 'c1'), piece(1, '2}')]],
    ['begin together', [piece(0, '', 'c0'), piece(1, '', 'c1'), piece(1, '{"b":2}'), piece(0, '{"a":1}')]],
    [
      'have thinking after the first',
      [piece(0, '{"a"', 'c0'), piece(1, '{"b":2}', 'c1'), piece(0, ':1}'), piece(0, ' \n')],
    ],
  ])('has consecutive blocks for parallel calls that %s', (_, pieces) => {
    const { text: stream } = run([...pieces, delta({}, 'tool_calls')]);
    expect(assembleMessage(stream).content).toEqual([tool(0, { a: 1 }), tool(1, { b: 2 })]);
  });

  it('separates 20 interleaved parallel calls with thinking between them', () => {
    const inputs = Array.from({ length: 20 }, (_, at) => ({
      path: `/tmp/"${at}\\`,
      lines: [at, { deep: '}]' }],
      text: 'é👩‍🚀'.repeat(at),
    }));
    const json = inputs.map((input) => JSON.stringify(input));
    const events: object[] = [];
    for (let at = 0, more = true; more; at += 3) {
      more = false;
      for (const [index, whole] of json.entries()) {
        const fragment = whole.slice(at, at + 3);
        if (at === 0) events.push(piece(index, fragment, `c${index}`));
        else if (fragment !== '') events.push(piece(index, fragment));
        more ||= fragment !== '';
        if (index % 7 === 3 && at % 9 === 0) events.push(delta({ reasoning_content: `<${index}.${at}>` }));
      }
    }
    const { text: stream, ending } = run([...events, delta({}, 'tool_calls'), '[DONE]']);
    const { content } = assembleMessage(stream);
    expect(content.filter(({ type }) => type === 'tool_use')).toEqual(inputs.map((input, index) => tool(index, input)));
    const thoughts = events.flatMap((event) => {
      const [choice] = (event as { choices: { delta: { reasoning_content?: string } }[] }).choices;
      return choice?.delta.reasoning_content ?? [];
    });
    expect(content.map((block) => (block['thinking'] as string | undefined) ?? '').join('')).toBe(thoughts.join(''));
    expect(ending.finishReason).toBe('tool_calls');
  });

  it('has the stop sequence if the engine reports it', () => {
    for (const more of [{ stop_reason: 'END' }, { matched_stop: 'END' }]) {
      const { text: stream } = run([delta({ content: 'a' }), delta({}, 'stop', more)]);
      expect(assembleMessage(stream).delta).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
    }
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
  ])('has for %s the stop reason %s', (finish, stopReason) => {
    const { text: stream } = run([delta({ content: 'a' }), delta({}, finish)]);
    expect(assembleMessage(stream).delta['stop_reason']).toBe(stopReason);
  });

  it('estimates missing counts', () => {
    const { text: stream } = run([delta({ content: 'twelve bytes' }), delta({}, 'stop')]);
    expect(assembleMessage(stream).usage).toMatchObject({ input_tokens: 11, output_tokens: 3 });
  });

  it.each([
    ['stops early', [delta({ content: 'a' })]],
    ['says nothing', ['[DONE]']],
    ['sends an error', [delta({ content: 'a' }), { error: { message: 'x' } }]],
    ['is not JSON', ['{']],
    [
      'never names a tool',
      [delta({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] }), delta({}, 'stop')],
    ],
    ['continues a call that was complete', [piece(0, '{}', 'c0'), piece(1, '{}', 'c1'), piece(0, '{}')]],
  ])('fails when the upstream %s', (_, events) => {
    expect(() => run(events)).toThrow(expect.objectContaining({ code: 'upstream_failed' }));
  });

  it('limits the waiting pieces', () => {
    const flood = Array.from({ length: 5 }, () => delta({ content: 'x'.repeat(1024 * 1024) }));
    expect(() => run([piece(0, '{', 'c0'), ...flood])).toThrow(expect.objectContaining({ code: 'upstream_failed' }));
  });
});
