import { describe, expect, it } from 'vitest';
import { sealer } from '#shared/core/seal.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { responsesToChat } from '#shared/translate/responses-chat/responses-to-chat.ts';
import { assembleResponse } from '../responses/assemble-response.ts';
import { runStream } from '../run-stream.ts';

const asked: JsonObject = {
  model: 'auto',
  input: 'hi',
  reasoning: { effort: 'low' },
  include: ['reasoning.encrypted_content'],
  tools: [
    { type: 'function', name: 'f' },
    { type: 'custom', name: 'apply_patch' },
  ],
};
const ownerSeal = sealer(Buffer.alloc(32, 5));
const minted = {
  id: 'resp_1',
  model: 'served',
  created: 7,
  promptTokens: () => 11,
  recalled: responsesToChat.recall?.(asked),
  seal: ownerSeal.seal,
};
const usage = { prompt_tokens: 30, completion_tokens: 8, prompt_tokens_details: { cached_tokens: 10 } };

function delta(delta: object, finish: string | null = null): object {
  return { id: 'x', model: 'e', choices: [{ index: 0, delta, finish_reason: finish }] };
}

function piece(index: number, text: string, name?: string): object {
  const id = name === undefined ? {} : { id: `c${index}`, type: 'function' };
  return delta({ tool_calls: [{ index, ...id, function: { ...(name !== undefined && { name }), arguments: text } }] });
}

const chatCall = { id: 'c0', type: 'function', function: { name: 'f', arguments: '{"x":1}' } };

const run = (events: readonly (object | string)[]) => runStream(responsesToChat.stream(minted), events);

describe('a Responses stream from a chat upstream', () => {
  it('seals the signatures of a command-line agent with the thinking that they belong to', () => {
    const { text } = run([
      delta({ reasoning_content: 'h' }),
      delta({ reasoning_content: 'm' }),
      delta({ reasoning_signature: 'c2ln' }),
      delta({ reasoning_content: 'well' }),
      delta({ reasoning_signature: 'c2lnMg==' }),
      delta({ content: 'Hello' }),
      delta({}, 'stop'),
      '[DONE]',
    ]);
    const { items } = assembleResponse(text);
    const kept = items.slice(0, 2).map(({ encrypted_content: sealed }) => ownerSeal.unseal(sealed as string) ?? '');
    expect(kept.map((json) => JSON.parse(json) as JsonObject)).toEqual([
      { text: 'hm', sealed: { model: 'served', signature: 'c2ln' } },
      { text: 'well', sealed: { model: 'served', signature: 'c2lnMg==' } },
    ]);
    expect(items).toMatchObject([
      { content: [{ text: 'hm' }] },
      { content: [{ text: 'well' }] },
      { content: [{ text: 'Hello' }] },
    ]);
  });

  it('has thinking, text and calls as items, and the usage with both details', () => {
    const { text, ending } = run([
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning: 'h' }),
      delta({ reasoning_content: 'm' }),
      delta({ content: 'Hello' }),
      piece(0, '{"x"', 'f'),
      piece(1, '{"input":"*** Be', 'apply_patch'),
      piece(0, ':1}'),
      piece(1, 'gin"}'),
      delta({}, 'stop'),
      { choices: [], usage },
      '[DONE]',
    ]);
    const { response, items } = assembleResponse(text);
    expect(items).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }], summary: [] },
      { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'function_call', call_id: 'c0', name: 'f', arguments: '{"x":1}' },
      { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin' },
    ]);
    expect(response['usage']).toEqual({
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 10, cache_write_tokens: 0 },
      output_tokens: 8,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 38,
    });
    expect(ending).toMatchObject({ finishReason: 'tool_calls', usage: { promptTokens: 30, cachedTokens: 10 } });
  });

  it('has thinking that its owner can replay, also from what is sealed alone', () => {
    const { text } = run([delta({ reasoning_content: 'hm' }), delta({ content: 'Hi' }, 'stop'), '[DONE]']);
    const [thinking, message] = assembleResponse(text).items;
    const { encrypted_content: sealed } = thinking ?? {};
    const history = (item: JsonObject, target: object) =>
      responsesToChat.request({ model: 'm', input: [item, message ?? {}] }, { model: 's', ...target });
    const stripped = { type: 'reasoning', summary: [], encrypted_content: sealed };
    const messages = [{ role: 'assistant', content: 'Hi', reasoning_content: 'hm' }];
    expect(history(stripped, { unseal: ownerSeal.unseal })).toMatchObject({ messages });
    expect(history(thinking ?? {}, {})).toMatchObject({ messages });
    const others = history(stripped, { unseal: sealer(Buffer.alloc(32, 6)).unseal });
    expect(others['messages']).toEqual([{ role: 'assistant', content: 'Hi' }]);
  });

  it.each([
    ['length', 'response.incomplete', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['content_filter', 'response.incomplete', { incomplete_details: { reason: 'content_filter' } }],
    ['stop', 'response.completed', { status: 'completed', incomplete_details: null }],
  ])('ends after %s with %s', (finish, type, response) => {
    const { text } = run([delta({ content: 'Hi' }), delta({}, finish), '[DONE]']);
    expect(assembleResponse(text).events.at(-1)).toMatchObject({ type, response });
  });

  it('has a refusal as a part of its own', () => {
    const { text } = run([delta({ refusal: 'No.' }), delta({}, 'stop'), '[DONE]']);
    expect(assembleResponse(text).items).toMatchObject([{ content: [{ type: 'refusal', refusal: 'No.' }] }]);
  });

  it('has the same items as the whole answer', () => {
    const { text } = run([
      delta({ reasoning_content: 'hm', content: 'Hello' }),
      piece(0, '{"x":1}', 'f'),
      delta({}, 'tool_calls'),
      { choices: [], usage },
    ]);
    const message = { role: 'assistant', content: 'Hello', reasoning_content: 'hm', tool_calls: [chatCall] };
    const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage };
    expect(responsesToChat.reply(body, minted).body).toEqual(assembleResponse(text).response);
  });

  it.each([
    ['breaks off', [delta({ content: 'Hi' })]],
    ['is empty', ['[DONE]']],
    ['reports an error', [delta({ content: 'Hi' }), { error: { message: 'out of memory' } }]],
  ])('fails if the upstream %s', (_, events) => {
    expect(() => run(events)).toThrow(expect.objectContaining({ code: 'upstream_failed' }) as Error);
  });
});
