import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { responsesToChat } from '#shared/translate/responses-chat/responses-to-chat.ts';
import { readTextLogprobs } from '#shared/translate/responses/read-text-logprobs.ts';
import { assembleResponse } from '../responses/assemble-response.ts';
import { runStream } from '../run-stream.ts';

const answerContext = { id: 'resp_1', model: 'served', created: 7 };
const entry = (token: string): JsonObject => ({ token, logprob: -0.5, bytes: [...Buffer.from(token)] });
const full = (token: string): JsonObject => {
  return { ...entry(token), top_logprobs: [entry(token), { ...entry('x'), logprob: -3 }] };
};
const chosen = (...tokens: string[]): JsonObject => ({ content: tokens.map(full) });

describe('log probabilities for a Responses client, of a chat upstream', () => {
  it('are requested with or without their number, and only if the client asks for them', () => {
    const ask = (fields: JsonObject): JsonObject =>
      responsesToChat.translateRequest({ model: 'm', input: 'hi', ...fields }, { model: 'm' });
    const include = ['message.output_text.logprobs'];
    expect(ask({ include, top_logprobs: 2 })).toMatchObject({ logprobs: true, top_logprobs: 2 });
    expect(ask({ top_logprobs: 2 })).toMatchObject({ logprobs: true, top_logprobs: 2 });
    const alone = ask({ include });
    expect(alone).toMatchObject({ logprobs: true });
    for (const request of [alone, ask({ include: [], top_logprobs: 0 })])
      expect(request).not.toHaveProperty('top_logprobs');
    expect(ask({ top_logprobs: 0 })).not.toHaveProperty('logprobs');
  });

  it('are in the events of a stream, and all in the item at its end', () => {
    const chunk = (content: string, finish: string | null = null): object => ({
      choices: [{ index: 0, delta: { content }, logprobs: chosen(content), finish_reason: finish }],
    });
    const events = [chunk('Hel'), chunk('lo'), { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, '[DONE]'];
    const { text } = runStream(responsesToChat.createStream(answerContext), events);
    const { events: sent, items, response } = assembleResponse(text);
    const deltas = sent.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas.map(({ logprobs }) => logprobs)).toEqual([[full('Hel')], [full('lo')]]);
    const whole = { text: 'Hello', logprobs: [full('Hel'), full('lo')] };
    expect(sent.find(({ type }) => type === 'response.output_text.done')).toMatchObject(whole);
    for (const output of [items, response['output']]) expect(output).toMatchObject([{ content: [whole] }]);
  });

  it('are in a whole answer, without those of thinking and calls', () => {
    const message = { role: 'assistant', content: 'Hello', reasoning_content: 'Hello?' };
    const logprobs = chosen('Hello', '?', 'Hel', 'lo', '<end>');
    const answer = { choices: [{ index: 0, message, logprobs, finish_reason: 'stop' }] };
    const { body } = responsesToChat.translateReply(answer, answerContext);
    const said = { content: [{ logprobs: [full('Hel'), full('lo')] }] };
    expect(body['output']).toMatchObject([{ type: 'reasoning' }, said]);
  });

  it('are all kept if tokens are parts of a character, and left out if they belong to another text', () => {
    const halves = [Buffer.from('🦡').subarray(0, 2), Buffer.from('🦡').subarray(2)].map((half) => [...half]);
    const parts = { content: halves.map((bytes) => ({ token: '', bytes, logprob: -1 })) };
    expect(readTextLogprobs(parts, '🦡').map(({ bytes }) => bytes)).toEqual(halves);
    expect(readTextLogprobs(chosen('Something ', 'else'), 'Hello')).toEqual([]);
    expect(readTextLogprobs(chosen('Hello'), '')).toEqual([]);
    expect(readTextLogprobs(null, 'Hello')).toEqual([]);
    expect(readTextLogprobs({ content: [{ token: 'é', logprob: -1 }] }, 'é')).toEqual([
      { token: 'é', bytes: [195, 169], logprob: -1, top_logprobs: [] },
    ]);
  });
});
