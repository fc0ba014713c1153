import { describe, expect, it } from 'vitest';
import { createSealer } from '#shared/core/seal.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { responsesToChat } from '#shared/translate/responses-chat/responses-to-chat.ts';
import { assembleResponse } from '../responses/assemble-response.ts';
import { runStream } from '../run-stream.ts';
import { callPiece, chatChunk } from '../upstream-streams.ts';

const asked: JsonObject = {
  model: 'auto',
  input: 'hi',
  include: ['reasoning.encrypted_content'],
  tools: [
    { type: 'function', name: 'f' },
    { type: 'custom', name: 'apply_patch' },
  ],
};
const ownerSeal = createSealer(Buffer.alloc(32, 5));
const recalled = responsesToChat.recallFields?.(asked);
const own = { id: 'resp_1', model: 'served', created: 7 };
const answerContext = { ...own, promptTokens: () => 11, recalled, seal: ownerSeal.seal };
const usage = { prompt_tokens: 30, completion_tokens: 8, prompt_tokens_details: { cached_tokens: 10 } };

const chatCall = { id: 'c0', type: 'function', function: { name: 'f', arguments: '{"x":1}' } };

const run = (events: readonly (object | string)[]) => runStream(responsesToChat.createStream(answerContext), events);

describe('a Responses stream from a chat upstream', () => {
  it('seals the signatures of a command-line agent together with their thinking', () => {
    const first = [{ reasoning_content: 'h' }, { reasoning_content: 'm' }, { reasoning_signature: 'c2ln' }];
    const second = [{ reasoning_content: 'well' }, { reasoning_signature: 'c2lnMg==' }];
    const deltas = [...first, ...second, { content: 'Hello' }].map((delta) => chatChunk({ ...delta }));
    const { items } = assembleResponse(run([...deltas, chatChunk({}, 'stop'), '[DONE]']).text);
    const kept = items.slice(0, 2).map(({ encrypted_content: sealed }) => ownerSeal.unseal(sealed as string) ?? '');
    expect(kept.map((json) => JSON.parse(json) as JsonObject)).toEqual([
      { text: 'hm', sealed: { model: 'served', signature: 'c2ln' } },
      { text: 'well', sealed: { model: 'served', signature: 'c2lnMg==' } },
    ]);
    expect(items).toMatchObject(['hm', 'well', 'Hello'].map((text) => ({ content: [{ text }] })));
  });

  it('has the input of a custom tool, piece by piece between those of another call', () => {
    const { text } = run([
      callPiece(0, '{"x"', 'f'),
      callPiece(1, '{"input":"*** Be', 'apply_patch'),
      callPiece(0, ':1}'),
      callPiece(1, 'gin"}'),
      chatChunk({}, 'stop'),
    ]);
    expect(assembleResponse(text).items).toMatchObject([
      { type: 'function_call', call_id: 'c0', name: 'f', arguments: '{"x":1}' },
      { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin' },
    ]);
  });

  it('has thinking that its owner can return, even as sealed content alone', () => {
    const { text } = run([chatChunk({ reasoning_content: 'hm' }), chatChunk({ content: 'Hi' }, 'stop'), '[DONE]']);
    const [thinking, message] = assembleResponse(text).items;
    const { encrypted_content: sealed } = thinking ?? {};
    const history = (item: JsonObject, traits: object) =>
      responsesToChat.translateRequest({ model: 'm', input: [item, message ?? {}] }, { model: 's', ...traits });
    const stripped = { type: 'reasoning', summary: [], encrypted_content: sealed };
    const messages = [{ role: 'assistant', content: 'Hi', reasoning_content: 'hm' }];
    expect(history(stripped, { unseal: ownerSeal.unseal })).toMatchObject({ messages });
    expect(history(thinking ?? {}, {})).toMatchObject({ messages });
    const others = history(stripped, { unseal: createSealer(Buffer.alloc(32, 6)).unseal });
    expect(others['messages']).toEqual([{ role: 'assistant', content: 'Hi' }]);
  });

  it('has a refusal as a separate part', () => {
    const { text } = run([chatChunk({ refusal: 'No.' }), chatChunk({}, 'stop'), '[DONE]']);
    expect(assembleResponse(text).items).toMatchObject([{ content: [{ type: 'refusal', refusal: 'No.' }] }]);
  });

  it('has the items of the whole answer', () => {
    const { text } = run([
      chatChunk({ reasoning_content: 'hm', content: 'Hello' }),
      callPiece(0, '{"x":1}', 'f'),
      chatChunk({}, 'tool_calls'),
      { choices: [], usage },
    ]);
    const message = { role: 'assistant', content: 'Hello', reasoning_content: 'hm', tool_calls: [chatCall] };
    const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage };
    expect(responsesToChat.translateReply(body, answerContext).body).toEqual(assembleResponse(text).response);
  });
});
